import collections
import json
import os
import re
import sys

LARGEST = 64 * 1024 * 1024
LONGEST_LINE = 2_000
MOST_FILES = 50
MOST_KINDS = 5_000
LEVELS = ["debug", "info", "warn", "error", "fatal"]
WORD = re.compile(r"\b(trace|debug|info|notice|warn|warning|error|err|critical|crit|fatal|panic)\b", re.I)
SAME = {"trace": "debug", "notice": "info", "warning": "warn", "err": "error",
        "critical": "fatal", "crit": "fatal", "panic": "fatal"}
# What configures an agent, and what is hidden, as its state and its keys are: also where no sandbox hides them.
CLOSED = re.compile(r"(?:\..+|service\.ya?ml|[a-z]+-config\.ya?ml)", re.I)
CHANGING = re.compile(r"\b[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}\b|\b[0-9a-fA-F]{12,}\b|\d+")


def files_of(path):
    root = os.path.realpath(os.environ.get("SERVICE_AGENT_DIR", "."))
    real = os.path.realpath(os.path.join(root, path))
    if real != root and not real.startswith(root + os.sep):
        sys.exit(f"{path} is not in the folder of the agent")
    if any(CLOSED.fullmatch(name) for name in os.path.relpath(real, root).split(os.sep)):
        sys.exit(f"{path} is hidden or configures the agent, which no tool reads")
    if os.path.isfile(real):
        return root, [real]
    if not os.path.isdir(real):
        sys.exit(f"there is no {path} in the folder of the agent")
    names = sorted(name for name in os.listdir(real) if name.endswith((".log", ".ndjson", ".txt")))
    found = [os.path.join(real, name) for name in names if not CLOSED.fullmatch(name)]
    return root, [file for file in found if os.path.isfile(file) and not os.path.islink(file)][:MOST_FILES]


def level_of(line):
    found = WORD.search(line[:300])
    if found is None:
        return None
    word = found.group(1).lower()
    return SAME.get(word, word)


def lines_of(file, budget):
    size = os.path.getsize(file)
    with open(file, "rb") as opened:
        skipped = size > budget
        if skipped:
            opened.seek(size - budget)
            opened.readline(LARGEST)
        # A file that grows is read as far as it went when it was opened.
        for number, line in enumerate(opened.read(min(size, budget)).split(b"\n"), 1):
            if line:
                yield None if skipped else number, line[:LONGEST_LINE].decode("utf-8", "replace")


def main():
    args = json.load(sys.stdin)
    wanted, without = args.get("text", "").lower(), args.get("without", "").lower()
    least, limit = args.get("level"), args.get("limit", 20)
    root, files = files_of(args["path"])
    budget = LARGEST // max(1, len(files))
    latest = collections.deque(maxlen=limit)
    levels, kinds, matches = collections.Counter(), collections.Counter(), 0
    for file in files:
        for number, line in lines_of(file, budget):
            lower = line.lower()
            if wanted not in lower or (without and without in lower):
                continue
            level = level_of(line)
            if least and (level is None or LEVELS.index(level) < LEVELS.index(least)):
                continue
            matches += 1
            levels[level or "none"] += 1
            kind = CHANGING.sub("#", line)[:200]
            if kind in kinds or len(kinds) < MOST_KINDS:
                kinds[kind] += 1
            latest.append({"file": os.path.relpath(file, root), "line": number, "text": line[:500]})
    common = [{"count": count, "message": kind} for kind, count in kinds.most_common(10)]
    print(json.dumps({"files": len(files), "matches": matches, "levels": dict(levels),
                      "most_common": common, "latest": list(latest)}, ensure_ascii=False))


main()
