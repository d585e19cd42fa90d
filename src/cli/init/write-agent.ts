import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Document } from 'yaml';
import { commandLine } from '../../actors/command-line.ts';
import type { AgentAnswers } from '../../machines/wizard/agent-answers.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';

/** Writes the files of a new agent, none over another, and answers their paths. Throws a CliError. */
export function writeAgent(directory: string, answers: AgentAnswers): string[] {
  const path = join(directory, 'service.yaml');
  try {
    mkdirSync(directory, { recursive: true });
    writeFileSync(path, serviceText(answers), { flag: 'wx' });
    return [path, ...ignoreFile(directory)];
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
    const isThere = code === 'EEXIST';
    throw new CliError(
      plainLine(
        isThere ? `${path} is already there` : `${path} cannot be written (${String(code)})`,
      ),
      {
        code: 'agent_not_written',
        exitCode: isThere ? exitCodes.usage : exitCodes.failed,
        hint: 'name a folder without an agent with --dir',
        cause: error,
      },
    );
  }
}

/** What an agent keeps of its own is nobody's to publish; a file that is there already is left alone. */
function ignoreFile(directory: string): string[] {
  const path = join(directory, '.gitignore');
  try {
    writeFileSync(path, '.service/\n', { flag: 'wx' });
    return [path];
  } catch {
    return [];
  }
}

function serviceText({ name, provider, model, baseUrl, tools, held }: AgentAnswers): string {
  const isScripted = provider === 'scripted';
  const document = new Document({
    agent_id: name,
    version: '0.1.0',
    description: `The agent ${name}`,
    model: isScripted
      ? { provider }
      : {
          provider,
          name: literal(model),
          ...(provider === 'openai-compatible' ? { base_url: literal(baseUrl) } : {}),
        },
    ...(isScripted ? {} : { instructions: 'You are a helpful agent. Answer in a few sentences.' }),
    builtin_tools: [...tools],
    ...(held.length === 0 ? {} : { security: { defer: { enabled: true, tools: rulesOf(held) } } }),
  });
  document.commentBefore = ` Every key: ${commandLine('schema')}, and docs/configuration.md.`;
  return document.toString();
}

function rulesOf(held: readonly string[]) {
  return Object.fromEntries(held.map((tool) => [tool, { to: 'channel:console:*', timeout: '5m' }]));
}

/** Nothing that was typed is filled in from the environment. */
function literal(text: string): string {
  return text.replaceAll('${', () => '$${');
}
