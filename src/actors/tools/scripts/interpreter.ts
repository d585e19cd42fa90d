import { extname } from 'node:path';
import { ToolError } from '../../ports/tool.ts';
import { findProgram } from '../../process/process.ts';
import type { ScriptDefinition, ScriptExtension, SkillProblem } from '../skills/skills.ts';

const interpreters: Record<
  ScriptExtension,
  (find: (name: string) => string | null) => string | null
> = {
  sh: (find) => find('bash') ?? find('sh'),
  py: (find) => find('python3'),
  js: () => process.execPath,
  mjs: () => process.execPath,
  ts: () => process.execPath,
};

/** Returns the program that runs a script, by its extension; scripts need no execute bit. Throws a ToolError. */
export function interpreterOf(tool: string, script: string, find = findProgram): string {
  const extension = extname(script).slice(1) as ScriptExtension;
  const program = interpreters[extension](find);
  if (program === null) {
    const name = extension === 'py' ? 'python3' : 'bash or sh';
    throw new ToolError(`${tool} needs ${name}, which is not installed; install it`, {
      kind: 'not started',
    });
  }
  return program;
}

/** Reports the missing interpreter of each script, so that this is known before a call fails. */
export function missingInterpreters(
  scripts: readonly ScriptDefinition[],
  find = findProgram,
): SkillProblem[] {
  return scripts.flatMap(({ name, script, file, line }) => {
    try {
      interpreterOf(name, script, find);
      return [];
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      return [{ message: `tool ${error.message}`, file, line, column: 1 }];
    }
  });
}
