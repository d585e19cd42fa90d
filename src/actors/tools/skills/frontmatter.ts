import { load, YAMLException } from 'js-yaml';
import { LineCounter, parseDocument } from 'yaml';
import { largestSettingsFile } from '../../read-regular-file.ts';
import type { Position } from './skill-problem.ts';

/** A parsed skill file. */
export interface Frontmatter {
  /** Keys of the YAML block; empty if the file has none. */
  data: Record<string, unknown>;
  body: string;
  /** Line of the file on which the body starts. */
  bodyLine: number;
  /** Position of the value at `path`; for a missing one, of its nearest parent. */
  locate: (path: readonly PropertyKey[]) => Position;
}

/** The frontmatter is invalid; the position is relative to the file. */
export class FrontmatterError extends Error {
  readonly code = 'frontmatter_invalid';
  readonly position: Position;

  constructor(message: string, position: Position) {
    super(message);
    this.position = position;
  }
}

/** Limits of synchronous parsing: characters of the block, and lines of the file. */
const longestBlock = 64 * 1024;
const mostLines = 8_000;

const start: Position = { line: 1, column: 1 };

/** Splits a skill file into its YAML block and body. Throws a FrontmatterError. */
export function parseFrontmatter(file: string): Frontmatter {
  const text = file.replace(/^\uFEFF/, '');
  const lines = text.split(/\r?\n/);
  // In Markdown a lone carriage return also ends a line.
  if (text.length > largestSettingsFile || text.split(/\r\n?|\n/).length > mostLines) {
    const message = 'the file is longer than 256 KiB or 8,000 lines; shorten it';
    throw new FrontmatterError(message, start);
  }
  if (lines[0]?.trimEnd() !== '---') {
    return { data: {}, body: text, bodyLine: 1, locate: () => start };
  }
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---');
  if (end === -1) {
    throw new FrontmatterError(
      'the frontmatter that starts here has no end; close it with a line of ---',
      start,
    );
  }
  const yaml = lines.slice(1, end).join('\n');
  if (yaml.length > longestBlock) {
    throw new FrontmatterError('the frontmatter is longer than 64 KiB; shorten it', start);
  }
  return {
    data: parseMapping(yaml),
    body: lines.slice(end + 1).join('\n'),
    bodyLine: end + 2,
    locate: locator(yaml),
  };
}

function parseMapping(yaml: string): Record<string, unknown> {
  if (yaml.split('\n').every((line) => /^\s*(#|$)/.test(line))) return {};
  const data = loadGuarded(yaml);
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    throw new FrontmatterError('the frontmatter must be keys with values, such as name: refunds', {
      line: 2,
      column: 1,
    });
  }
  return data as Record<string, unknown>;
}

function loadGuarded(yaml: string): unknown {
  try {
    return load(yaml, { maxDepth: 32, maxAliases: 0 });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw new FrontmatterError(`the frontmatter is not valid YAML: ${error.reason}`, {
      line: (error.mark?.line ?? 0) + 2,
      column: (error.mark?.column ?? 0) + 1,
    });
  }
}

/** `yaml` can crash the process on deeply nested text, so it only parses text that js-yaml has accepted. */
function locator(yaml: string): Frontmatter['locate'] {
  const counter = new LineCounter();
  let parsed: ReturnType<typeof parseDocument> | null = null;
  return (path) => {
    parsed ??= parseDocument(yaml, { lineCounter: counter, logLevel: 'silent' });
    const document = parsed;
    for (let length = path.length; length > 0; length -= 1) {
      const node: unknown = document.getIn(path.slice(0, length), true);
      const range = (node as { range?: [number, number, number] | null } | undefined)?.range;
      if (range) {
        const { line, col } = counter.linePos(range[0]);
        return { line: line + 1, column: col };
      }
    }
    return { line: 2, column: 1 };
  };
}
