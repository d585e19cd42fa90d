import type { Argument, Command, Option } from 'commander';

/** A candidate word and its description. */
export interface Candidate {
  value: string;
  description: string;
}

/** The candidates at the end of a command line. */
export interface Completion {
  /** The shell's own completion to offer in addition to the candidates. */
  also: 'nothing' | 'files' | 'folders';
  candidates: Candidate[];
  /** The values to fetch from a running agent or the list of agents, by the name of their argument or option. */
  wanted: Wanted | null;
}

/** The value to complete, such as the `id` of `task get`, and the text before it. */
export interface Wanted {
  command: string;
  name: string;
  /** The text before the value in the same word, such as `--dir=`. */
  prefix: string;
  /** The folder given by --dir; `null` if absent. */
  dir: string | null;
  /** True if --url or --token-file is given. A key press must not use that address or token. */
  isElsewhere: boolean;
}

/** The parsed part of a command line. */
interface Place {
  command: Command;
  names: string[];
  /** Number of the command's arguments so far. */
  count: number;
  /** The option whose value is the next word. */
  open: Option | null;
  /** True after a lone `--`. */
  isOver: boolean;
  given: Map<string, string>;
}

/**
 * Returns candidates for the last of the given words, which follow the program's name. The last word may be empty or
 * incomplete. Candidates that do not start with it are omitted.
 */
export function completeLine(program: Command, words: readonly string[]): Completion {
  const current = words.at(-1) ?? '';
  const place: Place = {
    ...{ command: program, names: [], count: 0 },
    ...{ open: null, isOver: false, given: new Map<string, string>() },
  };
  for (const word of words.slice(0, -1)) step(place, word, program);
  return starting(current, at(place, current, program));
}

function step(place: Place, word: string, program: Command): void {
  if (place.open !== null) {
    place.given.set(nameOf(place.open), word);
    place.open = null;
    return;
  }
  if (!place.isOver && word === '--') {
    place.isOver = true;
    return;
  }
  if (!place.isOver && word.startsWith('-')) {
    const [flag, value] = split(word);
    const option = optionOf(place.command, flag, program);
    if (option === undefined) return;
    if (value !== undefined) place.given.set(nameOf(option), value);
    else if (option.required) place.open = option;
    return;
  }
  const child = place.count === 0 ? childOf(place.command, word) : undefined;
  if (child === undefined) place.count += 1;
  else Object.assign(place, { command: child, names: [...place.names, word] });
}

function at(place: Place, current: string, program: Command): Completion {
  if (place.open !== null) return valueOf(place, place.open, '');
  if (!place.isOver && current.startsWith('-')) {
    const [flag, value] = split(current);
    const option = value === undefined ? undefined : optionOf(place.command, flag, program);
    if (option !== undefined) return valueOf(place, option, `${flag}=`);
    return nothingBut(optionsOf(place.command, program).map(asCandidate));
  }
  const children = place.count === 0 ? place.command.commands : [];
  if (children.length > 0) {
    return nothingBut(
      children.map((child) => ({ value: child.name(), description: child.description() })),
    );
  }
  const expected = place.command.registeredArguments;
  const last = expected.at(-1);
  const argument = expected[place.count] ?? (last?.variadic === true ? last : undefined);
  return argument === undefined ? nothingBut([]) : valueOf(place, argument, '');
}

function valueOf(place: Place, asked: Option | Argument, prefix: string): Completion {
  const name = 'flags' in asked ? nameOf(asked) : asked.name();
  const shape = 'flags' in asked ? (/<(\w+)>/.exec(asked.flags)?.[1] ?? '') : name;
  const also = shape === 'dir' ? 'folders' : shape === 'file' ? 'files' : 'nothing';
  const { given, names } = place;
  const choices = asked.argChoices ?? [];
  return {
    also,
    candidates: choices.map((value) => ({ value: `${prefix}${value}`, description: '' })),
    wanted: {
      command: names.join(' '),
      ...{ name, prefix },
      dir: given.get('dir') ?? null,
      isElsewhere: given.has('url') || given.has('token-file'),
    },
  };
}

function starting(current: string, completion: Completion): Completion {
  return { ...completion, candidates: beginningWith(current, completion.candidates) };
}

/** The candidates that begin with the typed text. */
export function beginningWith(current: string, candidates: readonly Candidate[]): Candidate[] {
  return candidates.filter(({ value }) => value.startsWith(current));
}

function nothingBut(candidates: Candidate[]): Completion {
  return { also: 'nothing', candidates, wanted: null };
}

function childOf({ commands }: Command, word: string): Command | undefined {
  return commands.find((child) => child.name() === word);
}

function optionsOf(command: Command, program: Command): Option[] {
  const all = command === program ? program.options : [...command.options, ...program.options];
  return all.filter(({ hidden }) => !hidden);
}

function optionOf(command: Command, flag: string, program: Command): Option | undefined {
  return optionsOf(command, program).find(({ long, short }) => flag === long || flag === short);
}

function asCandidate({ long, short, description }: Option): Candidate {
  return { value: long ?? short ?? '', description };
}

function nameOf({ long, short }: Option): string {
  return (long ?? short ?? '').replace(/^-+/, '');
}

/** `--dir=x` contains the option and its value in one word. */
function split(word: string): [flag: string, value?: string] {
  const end = word.indexOf('=');
  return end === -1 ? [word] : [word.slice(0, end), word.slice(end + 1)];
}
