// Stand-in for startAgent of src/main.ts until the configuration reader is in place.
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { v7 } from 'uuid';
import { createAuthenticator } from '../../src/actors/auth/authenticator.ts';
import { systemClock } from '../../src/actors/clock.ts';
import { serviceSchema } from '../../src/actors/config/schema.ts';
import { scriptedModel } from '../../src/actors/llm/scripted-model.ts';
import { createPolicy } from '../../src/actors/policy/policy.ts';
import type { Log } from '../../src/actors/ports.ts';
import { writeRuntimeToken } from '../../src/actors/process/serve-file.ts';
import { lockDirectory } from '../../src/actors/storage/directory-lock.ts';
import { TaskStore } from '../../src/actors/storage/task-store.ts';
import { TaskSystem } from '../../src/actors/system.ts';
import { createToolbox } from '../../src/actors/tools/tools.ts';
import { createApp } from '../../src/http/app.ts';
import { listen } from '../../src/http/listen.ts';

export async function startAgent(options: { directory: string; host: string; port: number | null; noAuth: boolean; inspectPort: number | null; env: NodeJS.ProcessEnv; log: Log }) {
  const { directory, env, log } = options;
  const config = serviceSchema.parse(JSON.parse(readFileSync(join(directory, 'service.yaml'), 'utf8')));
  const clock = systemClock();
  const ids = { next: () => v7() };
  const stateFolder = join(directory, '.service');
  const lock = lockDirectory(stateFolder);
  const auditPath = resolve(directory, config.audit.path);
  const toolbox = await createToolbox({ directory, config, env, clock });
  if (toolbox.problems.length > 0) throw new Error(JSON.stringify(toolbox.problems));
  const store = await TaskStore.open({ path: resolve(directory, config.store.path), audit: { path: auditPath, chain: true } });
  const system = new TaskSystem({
    store, model: scriptedModel(config.model.name, config.model.script), tools: toolbox.tools,
    policy: createPolicy(config.security as never, toolbox.tools), clock, ids, log,
    envelope: { ts: '', entity_id: config.agent_id, entity_type: 'agent' },
    restAfter: 3_000, onRestart: config.security.defer.on_restart, retention: config.store.retention,
  });
  system.start();
  const runtime = writeRuntimeToken(stateFolder);
  const isAuthOn = !options.noAuth && (config.auth.required || config.auth.providers.length > 0);
  const tokens = config.auth.providers.map(({ name, settings }) => {
    const s = settings as { token?: string; identity?: { user_id?: string; email?: string } };
    return { token: s.token ?? '', caller: { provider: name, userId: s.identity?.user_id ?? name, ...(s.identity?.email ? { email: s.identity.email } : {}) } };
  });
  const app = createApp({ system, authenticator: createAuthenticator({ runtimeToken: runtime.token, tokens: isAuthOn ? tokens : [], isOptional: !isAuthOn }), clock, ids, log, onDisconnect: config.security.defer.on_stream_disconnect });
  const server = await listen(app, { host: options.host, port: options.port ?? 8080, isFixed: true });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`, token: runtime.token, auditPath,
    async stop() {
      await system.drain(5_000);
      const closed = new Promise((done) => server.close(done));
      server.closeIdleConnections();
      const cut = setTimeout(() => server.closeAllConnections(), 1_000);
      await closed;
      clearTimeout(cut);
      system.stop();
      lock.release();
    },
  };
}
