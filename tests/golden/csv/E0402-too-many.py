# far too many rows for the memory that is allowed
# arenac: --max-memory 32M
with open("many.csv", "w") as f:
    f.write("id,lower,upper,size\n" + "".join("r%d,%d,%d,64\n" % (i, i, i + 3) for i in range(300000)))
