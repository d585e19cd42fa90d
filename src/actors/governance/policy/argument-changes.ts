import type { ArgumentChange } from '../../../machines/domain/task.ts';
import { mostChangesKept } from '../../../machines/governance/kept-changes.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';

/** Maximum characters of one path, of one value, and of all values of a call. */
const longestPath = 256;
const longestValue = 1_024;
const longestOfAll = 8_192;

const unscrubbed = '[omitted: the search for secrets failed]';

interface Difference {
  path: string;
  before: JsonValue | undefined;
  after: JsonValue | undefined;
}

/**
 * Lists the changes to the arguments of a call, in the order of the original arguments, up to a limit and with secrets
 * removed by `scrub`. For a path or value that is too long only its length is given, since a partial secret cannot be
 * recognised.
 */
export function argumentChanges(
  before: JsonObject,
  after: JsonObject,
  scrub: (text: string) => string,
): ArgumentChange[] {
  const changes: ArgumentChange[] = [];
  let room = longestOfAll;
  const shown = (value: JsonValue): string => {
    const text = JSON.stringify(value);
    if (text.length > Math.min(longestValue, room)) return lengthOf(text);
    room -= text.length;
    return scrubbed(value, scrub);
  };
  for (const difference of differences(before, after, '')) {
    const path =
      difference.path.length > longestPath
        ? lengthOf(difference.path)
        : scrubbedText(difference.path, scrub);
    changes.push({
      path,
      ...(difference.before === undefined ? {} : { before: shown(difference.before) }),
      ...(difference.after === undefined ? {} : { after: shown(difference.after) }),
    });
    if (changes.length === mostChangesKept) break;
  }
  return changes;
}

function lengthOf(text: string): string {
  return `[${text.length} characters]`;
}

/** Names and texts are also scrubbed individually, since their JSON form may differ and hide a secret. */
function scrubbed(value: JsonValue, scrub: (text: string) => string): string {
  const scrubMember = (_: string, member: JsonValue): JsonValue => {
    if (typeof member === 'string') return scrub(member);
    if (!isJsonObject(member)) return member;
    return Object.fromEntries(Object.entries(member).map(([name, below]) => [scrub(name), below]));
  };
  try {
    return scrub(JSON.stringify(value, scrubMember));
  } catch {
    return unscrubbed;
  }
}

function scrubbedText(text: string, scrub: (text: string) => string): string {
  try {
    return scrub(text);
  } catch {
    return unscrubbed;
  }
}

function* differences(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  path: string,
): Generator<Difference> {
  if (Object.is(before, after)) return;
  if (
    !isCollection(before) ||
    !isCollection(after) ||
    Array.isArray(before) !== Array.isArray(after)
  ) {
    yield { path, before, after };
    return;
  }
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const below = path === '' ? name : `${path}.${name}`;
    yield* differences(own(before, name), own(after, name), below);
  }
}

function isCollection(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null;
}

/** Reads own properties only: a name such as `constructor` is an ordinary argument. */
function own(value: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
