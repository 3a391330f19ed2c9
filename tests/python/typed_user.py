"""An example of a user's typed program: read by mypy --strict, not run."""
import pathlib

import clatune
import numpy as np

data = np.ones((4, 4), np.float32)
space = clatune.Space({"wg": [1, 2], "fast": [True, False], "ppt": np.array([1, 2]), "per": "[2**i for i in range(3)]"}, default={"wg": 1})
problem = clatune.Problem(pathlib.Path("k.cl"), "k", space=space, arguments=[data, clatune.In([1.0, 2.0]), np.int32(3), clatune.Local("wg"), {"Type": "int"}],
                          global_size=("n", 4), local_size="wg", sizes={"n": 4}, answer=[2 * data, None, None, None, None])
result: clatune.Result = clatune.tune(problem, budget=3, device="gpu", progress=lambda event: print(event["event"]), finalists=2, no_store=True)
seconds: float | None = result.best.time_s
size: tuple[int, ...] = result.best.global_size
values: dict[str, bool | int | float | str] = dict(result.best)
tier: str = clatune.lookup("k.json", sizes={"n": 8}, store=clatune.Store()).tier
mean: dict[int, float] = clatune.replay("a.json.gz").mean
try:
    clatune.verify(problem, {"wg": 2})
except clatune.VerificationFailed as error:
    code: int | None = error.exit_code
