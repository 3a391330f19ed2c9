"""Answers each line of clatune with a matrix product, written by the template gemm.cl.jinja. Argument: the type of the elements."""
import json
import sys

import jinja2

folder = jinja2.Environment(loader=jinja2.FileSystemLoader("."), trim_blocks=True, undefined=jinja2.StrictUndefined)
template = folder.get_template("gemm.cl.jinja")


def answer(configuration, sizes):
    width, rows, n = configuration["width"], configuration["rows"], sizes["n"]
    if width * rows > 32:
        return {"invalid": "more than 32 sums per work-item"}
    return {"source": template.render(type=sys.argv[1], **configuration, **sizes),
            "global": [n // width, n // rows], "local": [configuration["wg_x"], configuration["wg_y"]]}


for line in sys.stdin:
    print(json.dumps(answer(**json.loads(line))), flush=True)
