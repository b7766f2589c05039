What is about operators does not apply to intervals, which is said.
# arenac: --stripe auto --schedule search --io rows --overlap on
