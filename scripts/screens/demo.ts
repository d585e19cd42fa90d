import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { makeDemoWorkspace } from '../../src/cli/demo/demo-workspace.ts';
import { serveDashboard } from '../../src/dashboard/server/serve-dashboard.ts';

const cli = join(import.meta.dirname, '../../src/cli.ts');
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** The dashboard of `holdpoint ui --demo`, with a model that writes skills. */
export interface Demo {
  url: string;
  directory: string;
  model: LLMock;
  /** Names the model for the workspace. */
  setModel(): void;
  close(): Promise<void>;
}

/** Serves the demo, and resolves once its story is complete. */
export async function openDemo(): Promise<Demo> {
  const home = mkdtempSync(join(tmpdir(), 'holdpoint-home-'));
  const env = { PATH: process.env['PATH'], HOME: home };
  const model = new LLMock({ port: 0 });
  await model.start();
  const demo = await makeDemoWorkspace(env);
  const dashboard = await serveDashboard({
    ...{ directory: demo.directory, host: '127.0.0.1', port: 0, token: null, env, log: silent },
    command: { file: process.execPath, args: [cli], env },
  });
  await demo.play(dashboard.workspace);
  return {
    // The browser finds no names.
    url: `http://127.0.0.1:${dashboard.port}/`,
    directory: demo.directory,
    model,
    setModel() {
      const folder = join(demo.directory, '.service');
      mkdirSync(folder, { recursive: true });
      const settings = `provider: openai\nmodel: gpt-5\nbase_url: ${model.url}/v1\n`;
      writeFileSync(join(folder, 'ui.yaml'), settings);
      writeFileSync(join(folder, '.env'), 'OPENAI_API_KEY=sk-of-the-pictures\n');
    },
    async close() {
      await demo.stop();
      await dashboard.close();
      await demo.remove();
      await model.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
