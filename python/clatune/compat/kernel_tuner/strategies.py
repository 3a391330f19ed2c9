"""Kernel Tuner's strategies, and the searchers of clatune that replace them."""
from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple


class Search(NamedTuple):
    """How to search: options of `clatune tune`."""

    searcher: str
    budget: int | None  # None: the whole space
    fraction: float | None
    time: float | None
    x0: list[Any] | None
    options: dict[str, object]


class _Stand(NamedTuple):
    searcher: str
    same: bool  # the same method, not only a similar one
    options: Mapping[str, str]  # Kernel Tuner's options that the searcher has, with its names
    ignored: frozenset[str]  # Kernel Tuner's other options


def _stand(searcher: str, same: bool, ignored: str, **options: str) -> _Stand:
    return _Stand(searcher, same, options, frozenset(ignored.split()))


_STRATEGIES = {
    "brute_force": _stand("exhaustive", True, ""),
    "random_sample": _stand("random", True, ""),
    "genetic_algorithm": _stand("genetic", True, "maxiter method mutation_chance constraint_aware", popsize="population"),
    "diff_evo": _stand("genetic", False, "maxiter popsize_times_dimensions F CR method constraint_aware", popsize="population"),
    "pso": _stand("genetic", False, "maxiter w c1 c2 constraint_aware", popsize="population"),
    "firefly_algorithm": _stand("genetic", False, "maxiter B0 gamma alpha constraint_aware", popsize="population"),
    "simulated_annealing": _stand("annealing", True, "T T_min alpha maxiter constraint_aware"),
    "dual_annealing": _stand("annealing", False, "method"),
    "basinhopping": _stand("annealing", False, "method T"),
    "mls": _stand("local", True, "neighbor restart order randomize"),
    "minimize": _stand("local", False, "method maxiter"),
    "greedy_mls": _stand("hill-climb", False, "neighbor restart order randomize"),
    "ordered_greedy_mls": _stand("hill-climb", False, "neighbor restart order randomize"),
    "greedy_ils": _stand("hill-climb", False, "neighbor restart no_improvement random_walk"),
    "bayes_opt": _stand("surrogate", False, "covariancekernel covariancelengthscale method samplingmethod pruneparameterspace", popsize="start"),
    "skopt": _stand("surrogate", False, "learner acq_func lie_strategy kappa batch_size skopt_kwargs", num_initial="start"),
    "pyatf_strategies": _stand("surrogate", False, "searchtechnique use_searchspace_cache"),
    "hybrid_vndx": _stand("surrogate", False, "budget k cand_pool restart_iter tabu_size elite_size temp0 cooling constraint_aware"),
    "adaptive_tabu_greywolf": _stand("surrogate", False, "budget pack_size tabu_factor shake_rate jump_rate stagn_limit restart_ratio t0 t_decay "
                                     "t_min constraint_aware"),
}
_OWN = ("surrogate", "two-stage", "random", "exhaustive", "hill-climb", "local", "annealing", "genetic", "ants")
_USUAL_BUDGET = 200


def search_of(strategy: Any, options: Mapping[str, Any] | None) -> Search:
    """The search for a strategy of Kernel Tuner, or for one of clatune's own searchers with its own options."""
    left = dict(options or {})
    max_fevals, time, x0 = left.pop("max_fevals", None), left.pop("time_limit", None), left.pop("x0", None)
    left.pop("searchspace_construction_options", None)
    if max_fevals is not None and max_fevals <= 0:
        raise ValueError("max_fevals must be above 0")
    if time is not None and time <= 0:
        raise ValueError("time_limit must be above 0 seconds")
    if strategy is not None and not isinstance(strategy, str):
        raise NotImplementedError("strategy must be a name; run your own strategy with clatune.Optimizer (ask and tell)")
    name = strategy or "brute_force"
    if name in ("nsga2", "nsga3"):
        raise NotImplementedError(f"strategy=\"{name}\": clatune optimises one objective; tune once per objective, or for a metric that combines them")
    if name in _OWN:
        return Search(name, _budget(max_fevals, time, name), None, time, x0, left)
    stand = _STRATEGIES.get(name)
    if stand is None:
        raise ValueError(f"there is no strategy '{strategy}'; there are {', '.join(_STRATEGIES)}, and clatune's {', '.join(_OWN)}")
    fraction = left.pop("fraction", None) if name == "random_sample" else None
    if name == "random_sample" and max_fevals is None and time is None and fraction is None:
        fraction = 0.1
    unknown = set(left) - stand.ignored - set(stand.options)
    if unknown:
        raise ValueError(f"strategy_options: '{min(unknown)}' is not an option of {name}; there are max_fevals, time_limit, x0"
                         + "".join(f", {one}" for one in sorted(stand.ignored | set(stand.options))))
    if not stand.same:
        warnings.warn(f"strategy=\"{name}\" is replaced by clatune's searcher '{stand.searcher}', a similar method", stacklevel=3)
    ignored = sorted(set(left) & stand.ignored)
    if ignored:
        warnings.warn(f"strategy_options: ignored, since clatune's searcher '{stand.searcher}' does not have them: {', '.join(ignored)}", stacklevel=3)
    passed: dict[str, object] = {stand.options[one]: value for one, value in left.items() if one in stand.options and value is not None}
    return Search(stand.searcher, None if fraction is not None else _budget(max_fevals, time, stand.searcher), fraction, time, x0, passed)


def _budget(max_fevals: int | None, time: float | None, searcher: str) -> int | None:
    if max_fevals is not None:
        return int(max_fevals)
    return None if searcher == "exhaustive" or time is not None else _USUAL_BUDGET
