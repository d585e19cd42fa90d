import { stringify } from 'yaml';
import { CliError, exitCodes } from '../cli-error.ts';
import type { Session } from '../session.ts';
import { longestName, slackManifest } from './manifest.ts';

export interface SlackManifestOptions {
  name: string;
  approvalsOnly?: boolean;
}

/** `slack manifest`: prints the Slack app's manifest as YAML, or as JSON with --json. Slack accepts both. */
export function printManifest(
  { output }: Session,
  { name: given, approvalsOnly = false }: SlackManifestOptions,
): void {
  const name = given.trim();
  if (name === '' || [...name].length > longestName) throw badName();
  const manifest = slackManifest({ name, approvalsOnly });
  output.line(stringify(manifest).trimEnd());
  output.json(manifest);
  output.note(
    'make the app from it at https://api.slack.com/apps (Create New App, From a manifest)',
  );
  output.note('it also needs an app-level token with the scope connections:write');
}

function badName(): CliError {
  return new CliError(`--name must have 1 to ${longestName} characters`, {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: 'Slack allows no longer name for an app',
  });
}
