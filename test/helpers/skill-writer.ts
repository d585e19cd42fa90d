import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { LLMock } from '@copilotkit/aimock';
import { startModelServer } from './model-server.ts';
import { openDashboard, type TestDashboard } from './test-dashboard.ts';
import { temporaryFolder } from './test-system.ts';

/** What a dashboard of skills is opened with. */
export interface BuilderPageOptions {
  /** Files of the workspace. */
  files?: Record<string, string>;
  /** The URL of the model; that of a new mock when absent. */
  address?: string;
  /** Whether the workspace names that model. */
  isSet?: boolean;
}

/** The key that the model is asked with; it must show nowhere. */
export const builderKey = 'sk-canary-of-the-builder';

/** A dashboard with the agent `till`, whose skills are written by a mock; it notes its log. */
export async function openBuilder({
  files = {},
  address,
  isSet = true,
}: BuilderPageOptions = {}): Promise<{
  page: TestDashboard;
  mock: LLMock;
  log: string[];
}> {
  const mock = await startModelServer();
  const log: string[] = [];
  const note = (fields: object, message: string): void => {
    const words = JSON.stringify(fields, (_, value: unknown) =>
      value instanceof Error ? value.stack : value,
    );
    log.push(`${message} ${words}`);
  };
  const all: Record<string, string> = {
    'till/service.yaml': 'agent_id: till\n',
    ...(isSet
      ? {
          '.service/ui.yaml': `provider: openai\nmodel: gpt-5\nbase_url: ${address ?? `${mock.url}/v1`}\n`,
          '.service/.env': `OPENAI_API_KEY=${builderKey}\n`,
        }
      : {}),
    ...files,
  };
  const page = await openDashboard(
    (workspace) => {
      for (const [name, content] of Object.entries(all)) {
        mkdirSync(dirname(join(workspace, name)), { recursive: true });
        writeFileSync(join(workspace, name), content);
      }
    },
    {
      env: { PATH: process.env['PATH'], HOME: temporaryFolder() },
      log: { info: note, warn: note, error: note },
    },
  );
  return { page, mock, log };
}
