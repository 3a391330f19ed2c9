"""In which order to visit thirty places: a tuning parameter that is a permutation. Prints the shortest way found."""
import math
import random

import clatune

random.seed(1)
places = {f"p{i}": (random.random(), random.random()) for i in range(30)}
visit = clatune.Permutation(list(places))


def length(**positions):  # visit_p0=17, visit_p1=4, ...
    way = [places[name] for name in visit.order("visit", positions)]
    return sum(math.dist(here, there) for here, there in zip(way, way[1:]))


space = clatune.Space({"visit": visit}, default={"visit": list(places)})
with clatune.Optimizer(space, budget=100, objective={"name": "length", "unit": "", "goal": "minimise"}) as optimizer:
    optimizer.run(length)
    best = optimizer.best
print(visit.order("visit", best), length(**best))
