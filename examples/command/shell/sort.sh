#!/bin/sh
# Sorts some numbers; the configuration comes as arguments: sort.sh LINES BUFFER THREADS BATCH
set -eu
seq "$1" | awk '{ print ($1 * 7919) % 1000003 }' > unsorted
LC_ALL=C sort -n --buffer-size="$2" --parallel="$3" --batch-size="$4" -T . unsorted > sorted
LC_ALL=C sort -n -c sorted
wc -l < sorted
