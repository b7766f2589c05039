# what is wrong of every row is said, as far as --max-errors goes
# arenac some: --max-errors 2
