import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/**
 * Writes `server.json`, the entry of the package in the registry of MCP servers. The registry accepts a version once, and
 * only with the `mcpName` of the published package, so both come from `package.json`.
 */
const root = join(import.meta.dirname, '..');
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const { name, version, description, mcpName } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
) as Record<'name' | 'version' | 'description' | 'mcpName', string>;

const entry = {
  $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
  name: mcpName,
  title: 'Holdpoint',
  description,
  version,
  packages: [
    {
      registryType: 'npm',
      identifier: name,
      version,
      runtimeHint: 'npx',
      packageArguments: [
        { type: 'positional', value: 'run' },
        {
          type: 'named',
          name: '--dir',
          description: 'Folder of an agent or gate whose service.yaml has server: {mcp: true}',
          format: 'filepath',
          isRequired: true,
        },
        { type: 'named', name: '--port', description: 'Port of the daemon', value: '8080' },
      ],
      transport: {
        type: 'streamable-http',
        url: 'http://localhost:8080/mcp',
        headers: [
          {
            name: 'Authorization',
            description: 'Token that auth.providers accepts; none without sign-in',
            value: 'Bearer {token}',
            variables: { token: { description: 'Token of the caller', isSecret: true } },
          },
        ],
      },
    },
  ],
};

const file = join(root, 'server.json');
const text = `${JSON.stringify(entry, null, 2)}\n`;
if (!values.check) writeFileSync(file, text);
else if (readFileSync(file, 'utf8') !== text) {
  console.error('server.json is stale; run npm run server-json and commit it');
  process.exitCode = 1;
}
