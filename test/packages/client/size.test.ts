import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { expect, it } from 'vitest';

it('the client adds less than 6 KB to a page', async () => {
  const input = `${import.meta.dirname}/../../../packages/client/client.ts`;
  const bundle = await rolldown({ input, platform: 'browser' });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  expect(output.map((file) => (file.type === 'chunk' ? file.imports : file.fileName))).toEqual([
    [],
  ]);
  const [{ code }] = output;
  expect(gzipSync(code).length).toBeLessThan(6_000);
});
