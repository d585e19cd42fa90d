import { join } from 'node:path';
import { readSmallFile } from '../../actors/read-small-file.ts';
import { isJsonObject } from '../../machines/json.ts';
import { homeOf, userFolderOf } from './host-settings.ts';

/** The setting that switches the hooks of a coding agent off, and its file. */
interface Switch {
  path: string;
  setting: string;
}

/** Where a coding agent reads settings: of the user, of a project, and of the administrator. */
interface Place {
  /** The project that the hooks are for, or the current folder. */
  project: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Returns the first setting that switches hooks of a coding agent off in the settings of the user, the project or the
 * administrator; `null` if there is none. Its host would run every call without asking.
 */
export function hooksSwitch(dialect: string, place: Place): Switch | null {
  for (const [path, isOff, setting] of switchesOf(dialect, place)) {
    const text = readSmallFile(path);
    if (text !== null && isOff(text)) return { path, setting };
  }
  return null;
}

type Candidate = [path: string, isOff: (text: string) => boolean, setting: string];

function switchesOf(dialect: string, { project, env }: Place): Candidate[] {
  const off = (path: string): Candidate => [path, isTrue('disableAllHooks'), 'disableAllHooks'];
  if (dialect === 'claude-code') {
    const managed = managedClaude.map((folder) => join(folder, 'managed-settings.json'));
    return [
      ...[join(userFolderOf('claude-code', env), 'settings.json')].map(off),
      ...['settings.json', 'settings.local.json'].map((name) =>
        off(join(project, '.claude', name)),
      ),
      ...managed.map(off),
      ...managed.map((path): Candidate => [path, isTrue(managedOnly), managedOnly]),
    ];
  }
  if (dialect === 'copilot') {
    const user = join(homeOf(env), '.copilot');
    return [
      ...['settings.json', 'config.json'].map((name) => off(join(user, name))),
      ...['settings.json', 'settings.local.json'].map((name) =>
        off(join(project, '.github/copilot', name)),
      ),
    ];
  }
  if (dialect !== 'codex') return [];
  const isOff = (path: string): Candidate => [path, isFeatureOff, '[features] hooks = false'];
  return [
    isOff(join(userFolderOf('codex', env), 'config.toml')),
    isOff(join(project, '.codex/config.toml')),
    ...['config.toml', 'managed_config.toml', 'requirements.toml'].map((name) =>
      isOff(join('/etc/codex', name)),
    ),
    ['/etc/codex/requirements.toml', isManagedOnly, 'allow_managed_hooks_only = true'],
  ];
}

/** Only hooks of the administrator run, and `guard install` writes those of a user or a project. */
const managedOnly = 'allowManagedHooksOnly';

const managedClaude = [
  '/etc/claude-code',
  '/Library/Application Support/ClaudeCode',
  'C:\\Program Files\\ClaudeCode',
];

/** Comments of a JSON text hide no setting, so the name and the value are searched for if it is no JSON. */
function isTrue(name: string): (text: string) => boolean {
  return (text) => {
    try {
      const settings: unknown = JSON.parse(text);
      return isJsonObject(settings) && settings[name] === true;
    } catch {
      return new RegExp(`"${name}"\\s*:\\s*true`).test(text);
    }
  };
}

/** The hooks of Codex in a TOML text: `[features] hooks`, as a section, a dotted key or an inline table. */
function isFeatureOff(text: string): boolean {
  let section = '';
  return text.split('\n').some((line) => {
    section = /^\s*\[([^\]]*)\]/.exec(line)?.[1]?.trim() ?? section;
    const key = /^\s*((?:features\s*\.\s*)?)"?(?:codex_)?hooks"?\s*=\s*false/.exec(line);
    const isHere = key !== null && (key[1] !== '' || section === 'features');
    return isHere || /^\s*features\s*=\s*\{[^}]*\bhooks\s*=\s*false/.test(line);
  });
}

function isManagedOnly(text: string): boolean {
  return /^\s*allow_managed_hooks_only\s*=\s*true/m.test(text);
}
