import type { ToolRun } from '../../ports.ts';
import { refusedVariable, scriptPath } from '../../process/process.ts';

type Variables = Record<string, string>;

/** Where a script's environment comes from. */
export interface ScriptSurroundings {
  /** The agent's folder. */
  agentDirectory: string;
  /** The variables that skills may ask for by name. */
  env: Readonly<Record<string, string | undefined>>;
}

/** What is given to one run of a script. */
export interface ScriptPlace {
  /** Names of the variables its skill asks for. */
  declared: readonly string[];
  /** The private folder of this run. */
  home: string;
  /** The folder it may write and keep; `null` for none. */
  work: string | null;
  /** The variables that point at the egress proxy. */
  proxy: Variables;
}

/**
 * Builds a script's environment from nothing, so that what the daemon knows stays with the daemon.
 * Variables that steer programs are left out, even when they are asked for.
 */
export function scriptEnvironment(
  { agentDirectory, env }: ScriptSurroundings,
  { declared, home, work, proxy }: ScriptPlace,
  run: ToolRun,
): Variables {
  const asked = declared.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const given = Object.entries({ ...Object.fromEntries(asked), ...run.credential?.env() });
  return {
    ...Object.fromEntries(given.filter(([name]) => refusedVariable(name) === null)),
    ...proxy,
    PATH: scriptPath,
    HOME: home,
    LANG: env['LANG'] ?? 'C.UTF-8',
    TZ: env['TZ'] ?? 'UTC',
    // Compiled code beside a script would count as a change of what it is made of.
    PYTHONDONTWRITEBYTECODE: '1',
    ...tagVariables(run.tags),
    SERVICE_TOOL_CALL_ID: run.callId,
    SERVICE_TASK_ID: run.taskId,
    SERVICE_AGENT_DIR: agentDirectory,
    ...(work === null ? {} : { SERVICE_WORK_DIR: work }),
  };
}

/** A tool may hand on whose work it does: `workflow_id` is in `SERVICE_WORKFLOW_ID` (docs/contract/correlation.md). */
function tagVariables(tags: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(tags).map(([key, value]) => [`SERVICE_${key.toUpperCase()}`, value]),
  );
}
