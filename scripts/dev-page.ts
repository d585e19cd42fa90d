// Serves the page of the dashboard from its sources, which a browser reloads as they change, before the agents of
// `holdpoint ui --demo`: `npm run dev:page`, or with the words of another `holdpoint ui` behind `--`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { createServer } from 'vite';

const root = join(import.meta.dirname, '..');
const own = process.argv.slice(2);
const words = ['ui', ...(own.length === 0 ? ['--demo'] : own), '--no-token', '--no-open', '--json'];
const dashboard = spawn(join(root, 'bin/holdpoint'), [...words, '--port', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
dashboard.once('exit', (code) => process.exit(code ?? 1));
const [line] = (await once(createInterface({ input: dashboard.stdout }), 'line')) as [string];
const { port } = new URL((JSON.parse(line) as { url: string }).url);
const target = `http://127.0.0.1:${port}`;

const server = await createServer({
  configFile: false,
  root: join(root, 'src/ui/dashboard'),
  cacheDir: join(root, '.cache/dev-page'),
  plugins: [svelte({ configFile: false, compilerOptions: { runes: true } })],
  server: {
    host: '127.0.0.1',
    // The dashboard answers its own page alone; the sources of the page have a folder `api` too.
    proxy: {
      '^/api/(?!.*[.]ts)': { target, changeOrigin: true, headers: { origin: target } },
    },
  },
});
await server.listen();
server.printUrls();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => dashboard.kill(signal));
}
