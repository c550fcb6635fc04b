"""One process of the benchmark that calls DiskCache: the counterpart of worker.js.

It has the same operations, timed in Python. It gets what to do on its standard input, says "ready" when the cache is
open, begins when told, and says in one line of JSON how it went.
"""

import array
import hashlib
import json
import struct
import sys
import time

import diskcache

ACTIONS = ("get", "set", "delete")  # the order is the code in the files
SAMPLE = 100  # of so many answers one is compared with all that was ever written
MOST_BEHIND = 1000  # answers that are not what was set last, of which digests are kept


def decoded(path):
    """Operations of a file: the action's code, the key's number, the value's length in two bytes, the value."""
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        action, key, length = struct.unpack_from("<BBH", data, at)
        yield action, key, data[at + 4:at + 4 + length]
        at += 4 + length


def work(cache, keys, operations, warmup, limit, held):
    """Does the operations; answers how it went, and two numbers an operation: its code and its microseconds."""
    timings = array.array("d")
    outcome = {"done": 0, "ms": 0, "behind": 0, "longest": 0, "errors": {}, "samples": []}
    begun = 0
    hits = 0
    clock = time.perf_counter
    for action, number, value in operations:
        key = keys[number]
        failure = None
        answer = None
        start = clock()
        if outcome["done"] == warmup:
            begun = start
        elif outcome["done"] > warmup and (start - begun) * 1000 > limit:
            break
        try:
            if action == 0:
                answer = cache.get(key)
            elif action == 1:
                answer = cache.set(key, value)
            else:
                answer = cache.delete(key)
        except Exception as error:  # counted, as every other contender's
            failure = error
        end = clock()
        missed = failure is not None or (answer is None if action == 0 else not answer)
        if outcome["done"] >= warmup:
            timings.append(action * 2 + missed)
            timings.append((end - start) * 1e6)
        outcome["done"] += 1
        if failure is not None:
            message = str(failure) or type(failure).__name__
            outcome["errors"][message] = outcome["errors"].get(message, 0) + 1
            if held is not None:
                held.pop(number, None)
        elif action == 0:
            behind = held is not None and number in held and held[number] != answer
            outcome["behind"] += behind
            if answer is not None and (outcome["behind"] < MOST_BEHIND if behind else hits % SAMPLE == 0):
                outcome["samples"].append((key.decode(), hashlib.md5(answer).hexdigest()))
            hits += answer is not None and not behind
        elif held is not None:
            if action == 1 and missed:
                held.pop(number, None)
            else:
                held[number] = value if action == 1 else None
    outcome["ms"] = (clock() - begun) * 1000
    return outcome, timings


def main():
    task = json.loads(sys.stdin.readline())
    where = task["where"]
    keys = [key.encode() for key in where["keys"]]
    operations = list(decoded(task["operations"]))
    cache = getattr(diskcache, where["cache"])(where["dir"], **where["options"])
    held = {} if task["alone"] else None
    for _, number, value in decoded(task["preset"]) if task.get("preset") else ():
        cache.set(keys[number], value)
        if held is not None:
            held[number] = value
    print("ready", flush=True)
    sys.stdin.readline()
    outcome, timings = work(cache, keys, operations, task["warmup"], task["limit"], held)
    cache.close()
    with open(task["timings"], "wb") as file:
        timings.tofile(file)
    print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    main()
