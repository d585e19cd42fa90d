// Checks the types of the dashboard's components with svelte-check. TypeScript 7 checks them; to read components,
// svelte-check needs the interface of TypeScript 6 besides, which comes from a package that brings no `tsc` of its own.
import { createRequire, registerHooks } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
const page = join(import.meta.dirname, '../src/ui');

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'typescript' && context.parentURL?.includes('/svelte-check/')) {
      return next('@ts-morph/common/dist/typescript.js', {
        ...context,
        parentURL: import.meta.url,
      });
    }
    return next(specifier, context);
  },
});
process.argv.push(
  '--tsconfig',
  join(page, 'tsconfig.json'),
  '--workspace',
  page,
  '--tsgo-experimental-api',
  '--fail-on-warnings',
);
require(join(import.meta.dirname, '../node_modules/svelte-check/dist/src/index.js'));
