import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../../src/package-root.ts';
import { cleanUp, firstLine, holdpoint, startCommand, temporaryFolder } from '../holdpoint.ts';

afterAll(cleanUp);

const files = {
  'claude-code': ['.claude/settings.json', '.claude/settings.local.json'],
  codex: ['.codex/hooks.json', '.codex/hooks.json'],
  cursor: ['.cursor/hooks.json', '.cursor/hooks.json'],
  copilot: ['.copilot/hooks/holdpoint.json', '.github/hooks/holdpoint.json'],
  opencode: ['.config/opencode/plugins/holdpoint.js', '.opencode/plugins/holdpoint.js'],
} as const;

const hosts = Object.entries(files).map(([host, [user, project]]) => ({ host, user, project }));

/** Settings as a user of Claude Code has them. */
const claudeSettings = `{
    "model": "opus",
    "permissions": {"allow": ["Bash(ls:*)"], "deny": []},
    "hooks": {
        "PreToolUse": [
            {"matcher": "Write", "hooks": [{"type": "command", "command": "./lint.sh"}]}
        ],
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]
    },
    "statusLine": null
}
`;

async function home(): Promise<string> {
  return realpathSync(await temporaryFolder());
}

function guard(words: readonly string[], folder: string) {
  const env = { HOME: folder, XDG_CONFIG_HOME: '', CLAUDE_CONFIG_DIR: '', CODEX_HOME: '' };
  return holdpoint(['guard', ...words], { env, cwd: folder });
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

describe.each(hosts)('the hooks of $host', ({ host, user, project }) => {
  it('are written to the settings of the user and of a project, and removed', async () => {
    const folder = await home();
    for (const [words, path] of [
      [[], join(folder, user)],
      [['--project', folder], join(folder, project)],
    ] as const) {
      const installed = await guard(['install', host, '--yes', ...words], folder);
      expect([installed.code, installed.stdout]).toEqual([
        0,
        `the hooks of ${host} are in ${path}\n`,
      ]);
      const text = readFileSync(path, 'utf8');
      expect(text).toContain(`${packageRoot}/bin/holdpoint`);
      expect(text).toContain(join(folder, '.holdpoint/guard'));
      const again = await guard(['install', host, '--yes', ...words], folder);
      expect(again.stdout).toBe(`the hooks of ${host} are in ${path} already\n`);
      expect(readFileSync(path, 'utf8')).toBe(text);
      await guard(['uninstall', host, '--yes', ...words], folder);
      expect(existsSync(path)).toBe(false);
    }
  });
});

describe('settings with other content', () => {
  it('are kept, backed up, and restored byte for byte', async () => {
    const folder = await home();
    const path = join(folder, '.claude/settings.json');
    put(path, claudeSettings);
    const { stderr } = await guard(['install', 'claude-code', '--yes'], folder);
    expect(stderr).toContain('+                         "onFailure": "block"');
    const written = readFileSync(path, 'utf8');
    const { hooks, ...others } = JSON.parse(written);
    const { hooks: before, ...same } = JSON.parse(claudeSettings);
    expect(others).toEqual(same);
    expect(hooks.Stop).toEqual(before.Stop);
    const program = `${packageRoot}/bin/holdpoint`;
    const command = `${program} hook claude-code --dir ${folder}/.holdpoint/guard --wait 58m`;
    expect(hooks.PreToolUse).toEqual([
      before.PreToolUse[0],
      {
        hooks: [
          {
            type: 'command',
            command: `${command} || { echo 'the hook of Holdpoint did not allow the call' >&2; exit 2; }`,
            ...{ timeout: 3_600, onFailure: 'block' },
          },
        ],
      },
    ]);
    expect(hooks.PostToolUse).toEqual([{ hooks: [{ type: 'command', command, timeout: 60 }] }]);
    expect(written.startsWith('{\n    "model"')).toBe(true);
    expect(readFileSync(`${path}.before-holdpoint`, 'utf8')).toBe(claudeSettings);
    await guard(['uninstall', 'claude-code', '--yes'], folder);
    expect(readFileSync(path, 'utf8')).toBe(claudeSettings);
    expect(existsSync(`${path}.before-holdpoint`)).toBe(false);
  });

  it("keep the user's changes between install and uninstall", async () => {
    const folder = await home();
    const path = join(folder, '.claude/settings.json');
    put(path, claudeSettings);
    await guard(['install', 'claude-code', '--yes'], folder);
    put(path, readFileSync(path, 'utf8').replace('"opus"', '"sonnet"'));
    await guard(['uninstall', 'claude-code', '--yes'], folder);
    const expected = { ...JSON.parse(claudeSettings), model: 'sonnet' };
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(expected);
  });

  it.each([
    ['{\n  "model": "opus",\n  oops\n}', /settings\.json:3:3: the settings are no JSON: /],
    ['{"model": "opus"', /settings\.json:1:17: the settings are no JSON: /],
    ['[]', /settings\.json:1:1: the settings are no object/],
    ['{"a": 1, "a": 2}', /settings\.json:1:1: a key of the settings is repeated/],
    [
      '{"id": 2512292042121000001}',
      /settings\.json:1:1: a number of the settings would be rounded/,
    ],
  ])('are refused when something would be lost: %s', async (text, message) => {
    const folder = await home();
    const path = join(folder, '.claude/settings.json');
    put(path, text);
    const { code, stderr } = await guard(['install', 'claude-code', '--yes'], folder);
    expect([code, stderr]).toEqual([5, expect.stringMatching(message)]);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('are shown, and not changed without a confirmation', async () => {
    const folder = await home();
    const path = join(folder, '.codex/hooks.json');
    put(path, '{"hooks": {}}\n');
    const { code, stderr } = await guard(['install', 'codex'], folder);
    expect([code, stderr]).toEqual([2, expect.stringContaining('the change needs a confirmation')]);
    expect(stderr).toContain('+     "PreToolUse": [');
    expect(readFileSync(path, 'utf8')).toBe('{"hooks": {}}\n');
  });

  it('keep their link and their mode', async () => {
    const folder = await home();
    const real = join(folder, 'dotfiles/settings.json');
    put(real, claudeSettings);
    mkdirSync(join(folder, '.claude'));
    symlinkSync(real, join(folder, '.claude/settings.json'));
    await guard(['install', 'claude-code', '--yes'], folder);
    expect(readFileSync(real, 'utf8')).toContain('holdpoint');
    expect(statSync(real).mode & 0o777).toBe(0o644);
    expect(realpathSync(join(folder, '.claude/settings.json'))).toBe(real);
  });
});

describe('hooks of a gate with an address', () => {
  const url = 'https://gate.example.com';

  it.each(hosts)('name it in the settings of $host', async ({ host, user }) => {
    const folder = await home();
    const { code, stderr } = await guard(
      ['install', host, '--yes', '--url', `${url}/team/`],
      folder,
    );
    expect(code).toBe(0);
    expect(stderr).toContain('the token is SERVICE_TOKEN in the environment of the coding agent\n');
    expect(stderr).not.toContain('start the gate');
    const text = readFileSync(join(folder, user), 'utf8');
    expect(text.replaceAll('","', ' ')).toContain(`hook ${host} --url ${url}/team --wait 58m`);
    expect(text).not.toContain('--dir');
  });

  const sent = (fields: object) => {
    const headers = { authorization: 'Bearer $SERVICE_TOKEN', prefer: 'wait=3480' };
    const hook = { type: 'http', url: `${url}/hooks/claude-code`, headers };
    return [{ hooks: [{ ...hook, allowedEnvVars: ['SERVICE_TOKEN'], ...fields }] }];
  };

  it('are sent by Claude Code itself with --http, in place of the command and back', async () => {
    const folder = await home();
    const path = join(folder, '.claude/settings.json');
    const foreign = { type: 'http', url: 'https://other.example.com/hooks/claude-code' };
    const before = `${JSON.stringify({ hooks: { PreToolUse: [{ hooks: [foreign] }] } }, null, 2)}\n`;
    put(path, before);
    await guard(['install', 'claude-code', '--yes'], folder);
    const command = readFileSync(path, 'utf8');
    const words = ['install', 'claude-code', '--yes', '--http', '--url', url];
    expect((await guard(words, folder)).stderr).toContain('-             "type": "command"');
    const written = readFileSync(path, 'utf8');
    expect(JSON.parse(written)).toEqual({
      hooks: {
        PreToolUse: [{ hooks: [foreign] }, ...sent({ timeout: 3_600, onFailure: 'block' })],
        PostToolUse: sent({ timeout: 60 }),
        PostToolUseFailure: sent({ timeout: 60 }),
      },
    });
    expect((await guard(words, folder)).stdout).toContain(' already\n');
    await guard(['install', 'claude-code', '--yes'], folder);
    expect(readFileSync(path, 'utf8')).toBe(command);
    await guard(words, folder);
    await guard(['uninstall', 'claude-code', '--yes'], folder);
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  it.each([
    ['codex', ['--http', '--url', url], 'codex sends no events over HTTP'],
    ['claude-code', ['--http'], 'over HTTP without TLS another program could answer'],
    [
      'claude-code',
      ['--http', '--url', 'http://127.0.0.1:8080'],
      'over HTTP without TLS another program could answer in place of the gate',
    ],
    ['claude-code', ['--url', url, '--dir', 'gate'], '--dir and --url name two gates'],
    ['claude-code', ['--url', 'ftp://gate'], 'the address of the gate is no http or https address'],
    ['claude-code', ['--url', 'https://a:b@gate'], 'the address of the gate is no http or https'],
  ])('are refused for %s with %j', async (host, words, why) => {
    const folder = await home();
    const { code, stderr } = await guard(['install', host, '--yes', ...words], folder);
    expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
    expect(existsSync(join(folder, '.claude'))).toBe(false);
  });
});

describe('disabled hooks', () => {
  it.each([
    ['claude-code', '.claude/settings.json', '{"disableAllHooks": true}'],
    ['claude-code', '.claude/settings.local.json', '{"disableAllHooks": true, "model": "opus"}'],
    ['claude-code', '.claude/settings.local.json', '{// off\n"disableAllHooks": true}'],
    ['codex', '.codex/config.toml', 'model = "x"\n[features]\nhooks = false\n'],
    ['codex', '.codex/config.toml', 'features.hooks = false'],
    ['codex', '.codex/config.toml', 'features = { hooks = false }'],
    ['copilot', '.copilot/settings.json', '{"disableAllHooks": true}'],
    ['copilot', '.github/copilot/settings.json', '{"disableAllHooks": true}'],
  ])('of %s by %s are not installed', async (host, path, text) => {
    const folder = await home();
    put(join(folder, path), text);
    for (const words of [[], ['--project', folder]]) {
      const { code, stderr } = await guard(['install', host, '--yes', ...words], folder);
      const off = `in ${join(folder, path)} switches the hooks of ${host} off; nothing was changed`;
      expect([code, stderr]).toEqual([1, expect.stringContaining(off)]);
    }
    expect(readFileSync(join(folder, path), 'utf8')).toBe(text);
  });

  it('are recognized only by the exact settings', async () => {
    const folder = await home();
    put(join(folder, '.codex/config.toml'), '[other]\nhooks = false\n# [features]\n');
    put(join(folder, '.claude/settings.json'), '{"disableAllHooks": false}');
    expect((await guard(['install', 'codex', '--yes'], folder)).code).toBe(0);
    expect((await guard(['install', 'claude-code', '--yes'], folder)).code).toBe(0);
  });
});

describe('a guard from an empty folder', () => {
  it('allows reads, holds a deletion, and runs it after an approval', async () => {
    const folder = await home();
    const dir = join(folder, 'gates/guard');
    const project = join(folder, 'app');
    mkdirSync(project);
    const started = startCommand(['guard', '--dir', dir, '--root', project, '--port', '0'], {
      env: { HOME: folder },
      cwd: folder,
    });
    expect(await firstLine(started)).toMatch(/^holdpoint: guard is ready at http/);
    const ask = (command: string, id: string) =>
      holdpoint(['hook', 'claude-code', '--dir', dir], {
        input: JSON.stringify({
          ...{ session_id: 's', hook_event_name: 'PreToolUse', tool_name: 'Bash' },
          ...{ tool_use_id: id, tool_input: { command }, cwd: project },
        }),
      });
    const allowed = expect.stringContaining('"permissionDecision":"allow"');
    const silence = 'no hook has asked since the start';
    const status = () => holdpoint(['serve', 'status', '--dir', dir]);
    expect((await status()).stderr).toContain(silence);
    expect(await ask('ls -la', '1')).toMatchObject({ code: 0, stdout: allowed });
    expect((await status()).stderr).not.toContain(silence);
    const waiting = ask('rm -rf build', '2');
    const id = await heldCall(dir);
    const approved = await holdpoint(['task', 'approve', id, '--dir', dir]);
    expect(approved.code).toBe(0);
    expect(await waiting).toMatchObject({ code: 0, stdout: allowed });
    started.child.kill('SIGTERM');
    const { stderr } = await started.ended;
    expect(stderr).toContain(`wrote the rules for ${project} to ${dir}/service.yaml`);
    expect(stderr).toContain(`task deferrals --dir ${dir}`);
    expect(await ask('ls', '3')).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('a guard whose rules the agent could write', () => {
  it.each([
    ['below the project', 'app/gate', 'app'],
    ['in the project', 'app', 'app'],
    ['above the project', '.', 'app'],
    ['behind a link of the project', 'app/link/gate', 'app'],
    ['of a project behind a link', 'app/gate', 'other'],
  ])('is refused: %s', async (_, dir, root) => {
    const folder = await home();
    mkdirSync(join(folder, 'app/real'), { recursive: true });
    symlinkSync(join(folder, 'app/real'), join(folder, 'app/link'));
    symlinkSync(join(folder, 'app'), join(folder, 'other'));
    const words = ['--dir', join(folder, dir), '--root', join(folder, root), '--port', '0'];
    const { code, stderr } = await guard(words, folder);
    expect([code, stderr]).toEqual([2, expect.stringContaining('are one folder or one inside of')]);
    expect(existsSync(join(folder, dir, 'service.yaml'))).toBe(false);
  });
});

async function heldCall(dir: string): Promise<string> {
  for (;;) {
    const { stdout } = await holdpoint(['--json', 'task', 'deferrals', '--dir', dir]);
    const [first] = JSON.parse(stdout).deferrals;
    if (first !== undefined) return first.task_id;
  }
}
