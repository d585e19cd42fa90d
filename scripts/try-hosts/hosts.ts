import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A coding agent that is tried against a gate. */
export interface TriedHost {
  dialect: string;
  /** The package with its exact version. */
  package: string;
  /** The program in `node_modules/.bin`. */
  program: string;
  /** Arguments for one prompt without questions. */
  words: readonly string[];
  /** Variables of the program, besides HOME and PATH. */
  env(model: string): Record<string, string>;
  /** The tools that this version offers to its model. */
  tools: readonly string[];
  /** Prepares an empty home folder. */
  prepare?(home: string, model: string): void;
}

export const hosts: readonly TriedHost[] = [
  {
    dialect: 'claude-code',
    package: '@anthropic-ai/claude-code@2.1.328',
    program: 'claude',
    words: ['-p', 'clean up', '--allowedTools', 'Bash'],
    tools: [
      'Agent',
      'Bash',
      'Edit',
      'ListAgents',
      'Read',
      'ReportFindings',
      'ScheduleWakeup',
      'Skill',
      'ToolSearch',
      'Workflow',
      'DeferredToolPlaceholder',
      'Write',
    ],
    env: (model) => ({
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }),
  },
  {
    dialect: 'codex',
    package: '@openai/codex@0.171.0',
    program: 'codex',
    words: [
      ...['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'],
      ...['--dangerously-bypass-hook-trust', 'clean up'],
    ],
    tools: [
      'exec_command',
      'write_stdin',
      'request_user_input',
      'view_image',
      'multi_agent_v1/close_agent',
      'multi_agent_v1/resume_agent',
      'multi_agent_v1/send_input',
      'multi_agent_v1/spawn_agent',
      'multi_agent_v1/wait_agent',
      'get_goal',
      'create_goal',
      'update_goal',
      '',
    ],
    env: () => ({ NONE_KEY: 'none' }),
    prepare(home, model) {
      mkdirSync(join(home, '.codex'), { recursive: true });
      writeFileSync(
        join(home, '.codex/config.toml'),
        `model = "none"\nmodel_provider = "loopback"\n[model_providers.loopback]\nname = "loopback"\nbase_url = "${model}/v1"\nenv_key = "NONE_KEY"\nwire_api = "responses"\n`,
      );
    },
  },
  {
    dialect: 'opencode',
    package: 'opencode-ai@1.18.33',
    program: 'opencode',
    words: ['run', '--model', 'loopback/none', 'clean up'],
    tools: [
      'bash',
      'edit',
      'glob',
      'grep',
      'read',
      'skill',
      'task',
      'todowrite',
      'webfetch',
      'write',
    ],
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }),
    prepare(home, model) {
      const folder = join(home, '.config/opencode');
      mkdirSync(folder, { recursive: true });
      const provider = {
        npm: '@ai-sdk/openai-compatible',
        name: 'loopback',
        options: { baseURL: `${model}/v1`, apiKey: 'none' },
        models: { none: { name: 'none', tool_call: true } },
      };
      writeFileSync(
        join(folder, 'opencode.json'),
        JSON.stringify({ provider: { loopback: provider } }),
      );
    },
  },
  {
    dialect: 'copilot',
    package: '@github/copilot@1.0.102',
    program: 'copilot',
    words: ['-p', 'clean up', '--allow-all-tools', '--no-color'],
    tools: [
      'bash',
      'read_bash',
      'stop_bash',
      'list_bash',
      'view',
      'create',
      'edit',
      'fetch_copilot_cli_documentation',
      'skill',
      'sql',
      'session_store_sql',
      'read_agent',
      'list_agents',
      'write_agent',
      'grep',
      'glob',
      'task',
    ],
    env: (model) => ({
      COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
      COPILOT_MODEL: 'none',
      COPILOT_OFFLINE: 'true',
    }),
  },
];
