# 250 items that fill a rectangle: the search ends, and says that it did
# arenac: -q --effort 0 --budget 100001
seed = 5


def draw(n):
    global seed
    seed = seed * 16807 % 2147483647
    return seed % n


items = [[0, 400, 100000]]  # first and last step, size
while len(items) < 250:
    t = items[draw(len(items))]
    if draw(2) and t[1] - t[0] > 1:
        cut = t[0] + 1 + draw(t[1] - t[0] - 1)
        items.append([cut, t[1], t[2]])
        t[1] = cut
    elif t[2] > 1:
        cut = 1 + draw(t[2] - 1)
        items.append([t[0], t[1], t[2] - cut])
        t[2] = cut
with open("hard.csv", "w") as f:
    f.write("id,lower,upper,size\n" + "".join("t%d,%d,%d,%d\n" % (i, *t) for i, t in enumerate(items)))
