import { mostScripts, type WrittenSkill } from '../../machines/skill-builder/written-skill.ts';

/** A turn of the conversation as sent to the model. */
export interface BuilderMessage {
  role: 'user' | 'assistant';
  content: string;
}

/** The agent for which a skill is written. */
export interface PromptSubject {
  agent: string;
  skills: readonly string[];
  tools: readonly string[];
  /** The skill being edited, as on disk; `null` for a new one. */
  editing: { name: string; skill: WrittenSkill } | null;
}

const rules = `You write skills for an agent together with its operator.

A skill is a file SKILL.md with a script for each of its tools. First make sure that you know what the skill is for, which tools it
needs, what each takes and answers, and which services it reaches. Ask short questions, at most three at once, until you know.
Then write the whole skill.

## How you answer

Write plain words. When you write the skill, put each file in a block of its own, whole, with a fence that is longer than any in it:

\`\`\`\`skill.md
---
name: order-status
description: Looks up where an order is
category: customer-care
tags: [orders]
egress_domains: [api.example.com]
metadata:
  service:
    requires:
      env: {required: [ORDER_API_KEY], one_of: [], optional: []}
    idempotent: [order_status]
---

# Order status

When to use these tools, and how.

## Tool: order_status

Says where an order is. The first paragraph is what the agent chooses the tool by.

**Input:** order_id (string)
\`\`\`\`

\`\`\`\`script: order_status.py
import json, os, sys, urllib.request

call = json.load(sys.stdin)
print("on its way")
\`\`\`\`

## What holds for a skill

- \`name\` is lower-case words joined by hyphens, at most 64 characters. \`description\` is one sentence. \`category\`, when there is one, is lower-case words joined by hyphens.
- Each tool is a section \`## Tool: <name>\` with a description and its input: an \`**Input:**\` line such as \`text (string), limit (integer, optional)\`, or a fenced JSON Schema.
- The script of a tool has its name and ends in .sh, .py, .js, .mjs or .ts. It reads one JSON object from standard input, prints its result, and exits with another code than 0 when it fails, with a message on standard error. It uses nothing but the standard library of its language.
- A file name of a script has letters, digits, dots, hyphens and underscores, at most 64, and no folder. There are at most ${mostScripts} scripts.
- Every host that a script reaches is in \`egress_domains\`. Ask for as few as you can.
- A tool that changes something, sends something or costs money is named in \`held\` next to \`idempotent\`, such as \`held: [send_parcel]\`: a person is asked before each of its calls. One that only reads is not.
- Keys and passwords come from environment variables that \`requires.env\` names in upper case. Never write one into a file, and never ask for its value.
- Quote arguments, build no command or address by joining text, check what you are given.
- Nothing in a script may read or change what the operator did not ask for.`;

/** Creates the system prompt of the builder (docs/contract/dashboard.md, `context` and `chat`). */
export function builderPrompt({ agent, skills, tools, editing }: PromptSubject): string {
  const listed = (names: readonly string[]) => (names.length === 0 ? 'none' : names.join(', '));
  const about = [
    '## The agent',
    '',
    `- Its name: ${agent}`,
    `- Skills it has, whose names are taken: ${listed(skills)}`,
    `- Tools it has, whose names are taken: ${listed(tools)}`,
  ].join('\n');
  const edit = editing === null ? [] : [editBlock(editing)];
  return [rules, about, ...edit].join('\n\n').toWellFormed();
}

function editBlock({ name, skill }: NonNullable<PromptSubject['editing']>): string {
  const scripts = Object.entries(skill.scripts).map(([file, content]) =>
    fenced(`script: ${file}`, content),
  );
  return [
    '## Edit Mode',
    '',
    `The operator edits the skill ${name}, which follows as it is on disk.`,
    '',
    '- Keep the existing `## Tool: <name>` headings, unless you are asked to change them.',
    '- Prefer minimal patches: change what was asked for and leave the rest as it is, word for word.',
    '- Keep the `name`, unless you are asked for another one.',
    '- Write every file that the skill is to have, also those you did not change; one that you leave out is removed.',
    '- End with a summary under the heading `Changed`.',
    '',
    fenced('skill.md', skill.skill_md),
    ...scripts,
  ].join('\n');
}

function fenced(info: string, content: string): string {
  const longest = Math.max(3, ...(content.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  let end = content.length;
  while (content[end - 1] === '\n') end -= 1;
  return `${fence}${info}\n${content.slice(0, end)}\n${fence}`;
}
