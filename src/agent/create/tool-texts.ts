import type { JsonObject, JsonValue } from '../../machines/json.ts';

/** The languages of a generated tool, with the file extension of its script. */
export const toolLanguages = { python: 'py', sh: 'sh', js: 'mjs' } as const;

export type ToolLanguage = keyof typeof toolLanguages;

export interface ToolArgument {
  name: string;
  /** A type as written in an `**Input:**` line, such as `string`. */
  type: string;
  isOptional: boolean;
}

/** The input for a generated tool. */
export interface ToolText {
  name: string;
  description: string;
  args: readonly ToolArgument[];
}

/** Returns the text of an `**Input:**` line. */
export function inputText(args: readonly ToolArgument[]): string {
  const words = args.map(
    ({ name, type, isOptional }) => `${name} (${type}${isOptional ? ', optional' : ''})`,
  );
  return words.join(', ') || 'none';
}

/** Returns a tool's section for SKILL.md. */
export function sectionText({ name, description, args }: ToolText): string {
  return `## Tool: ${name}\n\n${description}\n\n**Input:** ${inputText(args)}\n`;
}

/** Returns a script that reads its arguments and prints a result. */
export function scriptText({ name, args }: ToolText, language: ToolLanguage): string {
  return scripts[language](name, args);
}

const scripts: Record<ToolLanguage, (name: string, args: readonly ToolArgument[]) => string> = {
  python(name, args) {
    const values = args.map((each) =>
      each.isOptional ? `call.get("${each.name}")` : `call["${each.name}"]`,
    );
    return `import json, sys

call = json.load(sys.stdin)  # the arguments, which fit the section in SKILL.md

# The work is done here; sys.exit("why not") makes the call fail.
# What is printed is the result.
print(${[`"${name} ran:"`, ...values].join(', ')})
`;
  },
  sh(name) {
    return `set -eu # without it a command that fails goes unnoticed
call=$(cat) # the arguments as JSON, which fit the section in SKILL.md; jq reads one of them

# The work is done here; echo "why not" >&2; exit 1 makes the call fail.
# What is printed is the result.
echo "${name} ran: $call"
`;
  },
  js(name, args) {
    const values = args.map((each) => `call['${each.name}']`);
    return `import { readFileSync } from 'node:fs';

// The arguments, which fit the section in SKILL.md.
const call = JSON.parse(readFileSync(0, 'utf8'));

// The work is done here; an Error makes the call fail. What is printed is the result.
console.log(${[`'${name} ran:'`, ...values].join(', ')}${args.length === 0 ? ', call' : ''});
`;
  },
};

/** Returns example arguments for a first call. */
export function sampleArguments(args: readonly ToolArgument[]): JsonObject {
  return Object.fromEntries(
    args.filter(({ isOptional }) => !isOptional).map(({ name, type }) => [name, sample(type)]),
  );
}

function sample(type: string): JsonValue {
  if (type.endsWith('[]')) return [sample(type.slice(0, -2))];
  return Object.hasOwn(samples, type) ? (samples[type] ?? null) : 'A-1';
}

const samples: Readonly<Record<string, JsonValue>> = {
  number: 1.5,
  float: 1.5,
  integer: 1,
  int: 1,
  boolean: true,
  bool: true,
  object: {},
  array: [],
  list: [],
};
