import csv
import json
import os
import re
import sys
from decimal import Decimal, InvalidOperation

LARGEST = 16 * 1024 * 1024
MOST_GROUPS = 10_000
MOST_DIGITS = 100
# What configures an agent, and what is hidden, as its state and its keys are: also where no sandbox hides them.
CLOSED = re.compile(r"(?:\..*|service\.ya?ml|[a-z]+-config\.ya?ml)", re.I)


def inside_agent(path):
    root = os.path.realpath(os.environ.get("SERVICE_AGENT_DIR", "."))
    real = os.path.realpath(os.path.join(root, path))
    if not real.startswith(root + os.sep):
        sys.exit(f"{path} is not in the folder of the agent")
    if any(CLOSED.fullmatch(name) for name in os.path.relpath(real, root).split(os.sep)):
        sys.exit(f"{path} is hidden or configures the agent, which no tool reads")
    if not os.path.isfile(real):
        sys.exit(f"there is no file {path} in the folder of the agent")
    if os.path.getsize(real) > LARGEST:
        sys.exit(f"{path} is larger than 16 MiB")
    return real


def number(text, column, line):
    try:
        found = Decimal(text.strip().replace(",", ""))
        if found.is_finite() and abs(found.adjusted()) <= MOST_DIGITS:
            return found
    except InvalidOperation:
        pass
    sys.exit(f"line {line} has no number in the column {column}")


def plain(found):
    return int(found) if found == found.to_integral_value() else float(round(found, 6))


def known(column, columns):
    if column not in columns:
        sys.exit(f"there is no column {column}; there are {', '.join(columns)}")
    return column


def main():
    args = json.load(sys.stdin)
    group_by, value = args.get("group_by"), args.get("value")
    where, limit = args.get("where", {}), args.get("limit", 20)
    groups, total = {}, 0
    with open(inside_agent(args["file"]), newline="", encoding="utf-8-sig") as file:
        rows = csv.DictReader(file)
        columns = [name for name in rows.fieldnames or [] if name]
        for column in [*where, *filter(None, [group_by, value])]:
            known(column, columns)
        for row in rows:
            if any((row[column] or "") != wanted for column, wanted in where.items()):
                continue
            total += 1
            key = (row[group_by] or "") if group_by else ""
            if key not in groups and len(groups) == MOST_GROUPS:
                sys.exit(f"{group_by} has more than {MOST_GROUPS} values; group by another column")
            group = groups.setdefault(key, {"rows": 0, "numbers": 0})
            group["rows"] += 1
            if value and (row[value] or "").strip():
                found = number(row[value], value, rows.line_num)
                group["numbers"] += 1
                group["sum"] = group.get("sum", Decimal(0)) + found
                group["least"] = min(group.get("least", found), found)
                group["greatest"] = max(group.get("greatest", found), found)
    answer = {"file": args["file"], "columns": columns, "rows": total}
    if group_by or value:
        order = sorted(groups.items(), key=lambda item: (-item[1].get("sum", item[1]["rows"]), item[0]))
        answer["groups"] = [told(key, group, group_by) for key, group in order[:limit]]
        answer["more_groups"] = max(0, len(order) - limit)
    print(json.dumps(answer, ensure_ascii=False))


def told(key, group, group_by):
    line = {group_by: key} if group_by else {}
    line["rows"] = group["rows"]
    if group["numbers"]:
        line["sum"] = plain(group["sum"])
        line["average"] = plain(group["sum"] / group["numbers"])
        line["least"], line["greatest"] = plain(group["least"]), plain(group["greatest"])
    return line


try:
    main()
except (csv.Error, UnicodeDecodeError):
    sys.exit("the file is not CSV in UTF-8")
