// Finds phrases that make a sentence hard to read: `npm run language`. Names the file and line of each, and exits with 1.
// The phrases and their replacements are listed below; CONTRIBUTING.md has the rules.
import { globSync, readFileSync } from 'node:fs';
import { bannedIn } from './language/banned-in.ts';

const files = globSync([
  'src/**/*.{ts,svelte,css,md}',
  'packages/**/*.{ts,svelte,md}',
  'docs/**/*.md',
  'scripts/**/*.{ts,md}',
  'bench/**/*.{ts,mjs,md}',
  'examples/**/*.{ts,mjs,md}',
  'test/**/*.ts',
  'skills/**/*.{md,mjs,py}',
  'clients/**/*.{py,md}',
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
]).filter(
  (file) => !/(?:^|\/)(?:node_modules|dist)\/|^scripts\/language\/banned-in\.ts$/.test(file),
);
const found = files.flatMap((file) => bannedIn(file, readFileSync(file, 'utf8')));
for (const { place, phrase, instead } of found) console.log(`${place}: "${phrase}"; ${instead}`);
process.exit(found.length === 0 ? 0 : 1);
