# the table is text, markdown or JSON
# arenac: ops --emit svg
