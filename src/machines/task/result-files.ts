import type { Exchange, Part } from '../domain/task.ts';
import type { JsonObject, JsonValue } from '../json.ts';

/** Maximum characters of the files of a run's results, as JSON. */
const mostFiles = 1024 * 1024;

/** Returns a run's results without the files of the oldest ones that leave no room for the files of another result. */
export function withRoomFor(
  exchanges: readonly Exchange[],
  { parts = [] }: Pick<Exchange, 'parts'>,
): readonly Exchange[] {
  if (parts.length === 0) return exchanges;
  let room = mostFiles - sizeOf(parts);
  const kept = exchanges.toReversed().map((one) => {
    room -= sizeOf(one.parts ?? []);
    if (room >= 0) return one;
    const { parts: _, ...rest } = one;
    return rest;
  });
  return kept.toReversed();
}

/** Returns the pictures, sounds, files and web addresses of a run's results as parts of its answer. */
export function filesOf(exchanges: readonly Exchange[]): Part[] {
  return exchanges.flatMap(({ parts = [] }) => parts.flatMap(fileOf));
}

function sizeOf(parts: readonly JsonObject[]): number {
  return parts.length === 0 ? 0 : JSON.stringify(parts).length;
}

/** Converts a content block of MCP. Addresses within the server's machine mean nothing to a caller. */
function fileOf({ type, data, mimeType, uri, name, resource = {} }: JsonObject): Part[] {
  switch (type) {
    case 'image':
    case 'audio':
      return file({ mimeType, bytes: data });
    case 'resource_link':
      return isWebAddress(uri) ? file({ name, mimeType, uri }) : [];
    default: {
      const held = resource as JsonObject;
      return file({ name: held['uri'], mimeType: held['mimeType'], bytes: held['blob'] });
    }
  }
}

function isWebAddress(uri: JsonValue | undefined): boolean {
  return typeof uri === 'string' && /^https?:\/\//i.test(uri);
}

function file(said: { [key: string]: JsonValue | undefined }): Part[] {
  const texts = Object.entries(said).filter(([, value]) => typeof value === 'string');
  const held = Object.fromEntries(texts) as Extract<Part, { kind: 'file' }>['file'];
  return held.bytes === undefined && held.uri === undefined ? [] : [{ kind: 'file', file: held }];
}
