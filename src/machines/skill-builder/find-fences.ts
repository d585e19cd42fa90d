import { isScriptName } from './written-skill.ts';

/** A code block of an answer with a file of a skill. */
export interface Artifact {
  /** The script's name as written; `null` for the SKILL.md. */
  script: string | null;
  content: string;
}

/** A parsed answer. */
export interface Fences {
  artifacts: Artifact[];
  /** The text outside of the blocks. */
  prose: string;
}

/** A line that opens or closes a code block. */
interface Mark {
  line: number;
  ticks: number;
  /** The text after the backticks. */
  info: string;
  /** The file named by that text: a script, `null` for a SKILL.md, `undefined` for none. */
  named: string | null | undefined;
}

const fence = /^ {0,3}(`{3,})[ \t]*([^`]*?)[ \t]*$/;

/** Maximum length of a fence line in characters. */
const longestFence = 256;

/** Maximum number of files searched in one answer. */
const mostArtifacts = 64;

const scriptInfo = /(?:^|\s)script:\s*(\S.*)$/i;

const skillInfo = /(?:^|\s)skill\.md$/i;

/**
 * Finds the code blocks of a SKILL.md and of scripts in a model's output. Models often count backticks wrongly, so a
 * block ends at a closing fence of any length that belongs to no inner block, at the next file, or at the end of the
 * text.
 */
export function findFences(text: string): Fences {
  const lines = text.split(/\r?\n/);
  const marks = lines.flatMap(markOf);
  const artifacts: Artifact[] = [];
  const prose: string[] = [];
  let next = 0;
  for (const [index, mark] of marks.entries()) {
    if (mark.line < next || artifacts.length === mostArtifacts) continue;
    const script = fileOf(lines, mark);
    if (script === undefined) continue;
    prose.push(lines.slice(next, mark.line).join('\n'));
    const end = endOf(marks, index) ?? { line: lines.length, next: lines.length };
    artifacts.push({ script, content: withLastLine(lines.slice(mark.line + 1, end.line)) });
    next = end.next;
  }
  return { artifacts, prose: [...prose, lines.slice(next).join('\n')].join('\n') };
}

function markOf(text: string, line: number): Mark[] {
  const found = text.length > longestFence ? null : fence.exec(text);
  if (found === null) return [];
  const [, { length: ticks } = '', info = ''] = found;
  return [{ line, ticks, info, named: namedFile(info) }];
}

/** Returns the file in a block: a script's name, `null` for a SKILL.md, `undefined` for none. */
function fileOf(lines: readonly string[], { line, info, named }: Mark): string | null | undefined {
  return holdsFrontmatter(lines, line, info) ? null : named;
}

function namedFile(info: string): string | null | undefined {
  const script = scriptInfo.exec(info)?.[1];
  if (script !== undefined) return bareName(script);
  return skillInfo.test(info) ? null : undefined;
}

/** Models may quote names and prepend the script folder. */
function bareName(written: string): string {
  const name = written.trim().replaceAll(/^["']|["']$/g, '');
  const base = name.replace(/^(?:\.\/)?scripts\//, '');
  return isScriptName(base) ? base : name;
}

/** A block labelled only with a language is a SKILL.md if it starts like one. */
function holdsFrontmatter(lines: readonly string[], index: number, info: string): boolean {
  if (!/^(?:markdown|md|yaml|yml)$/i.test(info)) return false;
  if (lines[index + 1]?.trimEnd() !== '---') return false;
  const head = lines.slice(index + 2, index + 34);
  const end = head.findIndex((line) => line.trimEnd() === '---');
  return end !== -1 && head.slice(0, end).some((line) => /^name:\s*\S/.test(line));
}

/** Returns the end of the block opened by a mark, and the line after it; `undefined` if the block is not closed. */
function endOf(marks: readonly Mark[], opener: number): { line: number; next: number } | undefined {
  const ticks = marks[opener]?.ticks ?? 0;
  let depth = 0;
  let tolerated: number | undefined;
  for (let index = opener + 1; index < marks.length; index += 1) {
    const mark = marks[index];
    if (mark === undefined) break;
    const { line, info, named } = mark;
    if (named !== undefined) {
      if (tolerated === undefined) return { line, next: line };
      break;
    }
    if (info !== '') depth += 1;
    // A fence that is longer than all inner ones always closes its block.
    else if (ticks > 3 && mark.ticks >= ticks) return { line, next: line + 1 };
    else if (depth > 0) depth -= 1;
    else tolerated ??= line;
  }
  return tolerated === undefined ? undefined : { line: tolerated, next: tolerated + 1 };
}

function withLastLine(lines: readonly string[]): string {
  const last = lines.findLastIndex((line) => line !== '');
  return last === -1 ? '' : `${lines.slice(0, last + 1).join('\n')}\n`;
}
