import { link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { changelogPath, isAbove, project, readChangelog } from './changelog.mjs';
import { run } from './run.mjs';

const { SERVICE_TASK_ID: task = '', SERVICE_TOOL_CALL_ID: call = '' } = process.env;

await run(async ({ version }) => {
  const tags = join(project, 'tags');
  const path = join(tags, `v${version}.json`);
  await mkdir(tags, { recursive: true });
  const made = await readTag(path);
  if (made === null) await release(version, path);
  else if (made.task !== task || made.call !== call) {
    throw new Error(`v${version} was already released on ${made.date}; take the next version`);
  }
  const tag = await readTag(path);
  await date(tag);
  return { tag: `v${version}`, date: tag.date, changes: tag.changes };
});

/** Keeps the tag of a version. It is there as a whole or not at all, and nobody can make the same one twice. */
async function release(version, path) {
  const { last, changes } = await readChangelog();
  if (!isAbove(version, last)) {
    throw new Error(`${version} is not above ${last}, the last version; take a higher one`);
  }
  if (changes === '') throw new Error('there is nothing to release; the changelog has no changes');
  const draft = `${path}.${process.pid}.tmp`;
  const tag = { version, date: new Date().toISOString().slice(0, 10), changes, task, call };
  await writeFile(draft, `${JSON.stringify(tag, null, 2)}\n`, { flush: true });
  try {
    await link(draft, path);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    throw new Error(`v${version} was released a moment ago; take the next version`);
  } finally {
    await rm(draft);
  }
  const other = (await readdir(dirname(path)))
    .map(versionOf)
    .find((it) => it !== version && isAbove(it, last));
  if (other === undefined) return;
  await rm(path);
  throw new Error(`v${other} is being released with the same changes; look at what became of it`);
}

/** The version of a tag by the name of its file; `0.0.0` for what is no tag. */
function versionOf(name) {
  return /^v(\d+\.\d+\.\d+)\.json$/.exec(name)?.[1] ?? '0.0.0';
}

/** Gives what was unreleased its heading in the changelog, unless a call before this has done so. */
async function date({ version, date: day, changes }) {
  const { text, changes: unreleased } = await readChangelog();
  if (text.includes(`\n## ${version} - `)) return;
  const heading = `## ${version} - ${day}`;
  // What was added since the tag was made stays unreleased.
  const added = unreleased.replace(changes, '').trim();
  const rest = added === '' ? '' : `${added}\n\n`;
  const at = text.search(/^## Unreleased/m);
  const end = at + text.slice(at).indexOf(unreleased) + unreleased.length;
  const whole = `${text.slice(0, at)}## Unreleased\n\n${rest}${heading}\n\n${changes}${text.slice(end)}`;
  const draft = `${changelogPath}.${process.pid}.tmp`;
  await writeFile(draft, whole, { flush: true });
  await rename(draft, changelogPath);
}

async function readTag(path) {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}
