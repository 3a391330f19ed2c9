"""Sizes of the filterbank correlation to learn from and to predict: all of the paper's on a GPU (602), their like for
a CPU, and a random choice of the latter as two lists without a size in common. Usage: filterbank_sizes.py count | filterbank_sizes.py
draw FOLDER [training [unseen [seed]]]."""
import itertools
import json
import pathlib
import random
import sys

VALUES = (1, 4, 8, 16, 32, 64, 128, 256)  # of depth and number of filters
SIDES = (3, 5, 7, 9, 11)  # of a filter
DEVICES = {"gpu": ((256, 512, 1024, 2048, 4096), 1e9, 50e9), "cpu": ((32, 64, 128, 256), 0.02e9, 0.2e9)}


def operations(size):
    places = (size["height"] - size["filter_height"] + 1) * (size["width"] - size["filter_width"] + 1)
    return 2 * size["n_filters"] * size["filter_height"] * size["filter_width"] * size["depth"] * places


def all_sizes(device):
    images, least, most = DEVICES[device]
    for image, side, depth, filters in itertools.product(images, SIDES, VALUES, VALUES):
        size = {"height": image, "width": image, "depth": depth, "n_filters": filters, "filter_height": side,
                "filter_width": side}
        if least < operations(size) < most:
            yield size


def write(path, sizes):
    path.write_text("[\n" + ",\n".join("  " + json.dumps(s) for s in sizes) + "\n]\n")


def draw(folder, training=50, unseen=20, seed=1):
    chosen = random.Random(seed).sample(list(all_sizes("cpu")), training + unseen)
    write(pathlib.Path(folder) / "filterbank-training.json", chosen[:training])
    write(pathlib.Path(folder) / "filterbank-unseen.json", chosen[training:])


def main(arguments):
    if arguments[:1] == ["draw"] and 2 <= len(arguments) <= 5:
        return draw(arguments[1], *map(int, arguments[2:]))
    if arguments != ["count"]:
        return __doc__
    for device in DEVICES:
        print(device, sum(1 for _ in all_sizes(device)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
