// Runs @name@ and compares every byte of its outputs.
#include <@name@.h>
#include <@name@_memory.h>

void setup()
{
  Serial.begin(115200);
  while (!Serial) {
  }
  const unsigned long start = micros();
  const int status = @name@_selftest(&@name@_memory);
  const unsigned long took = micros() - start;
  Serial.println(status == 0 ? "@name@: all outputs are equal" : "@name@: an output differs");
  Serial.print(took);
  Serial.println(" us");
}

void loop()
{
}
