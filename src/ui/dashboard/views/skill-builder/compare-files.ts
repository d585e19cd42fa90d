import type { SkillDraftJson } from '../../../../http/wire/dashboard/builder-json.ts';

/** A file of a skill before and after a change. */
export interface ComparedFile {
  name: string;
  before: string;
  after: string;
  /** `new` is on the new side alone, `removed` on the old one. */
  tag: 'new' | 'removed' | 'changed' | null;
}

/** Puts the files of two sides beside each other: the `SKILL.md`, then every script that either has, by name. */
export function compareFiles(before: SkillDraftJson | null, after: SkillDraftJson): ComparedFile[] {
  const [old, now] = [before?.scripts ?? {}, after.scripts];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].toSorted();
  return [
    fileOf('SKILL.md', before?.skill_md ?? after.skill_md, after.skill_md),
    ...names.map((name) => {
      const [was, is] = [own(old, name), own(now, name)];
      if (before === null) return fileOf(name, is ?? '', is ?? '');
      if (was === null) return { name, before: '', after: is ?? '', tag: 'new' as const };
      if (is === null) return { name, before: was, after: '', tag: 'removed' as const };
      return fileOf(name, was, is);
    }),
  ];
}

function fileOf(name: string, before: string, after: string): ComparedFile {
  return { name, before, after, tag: before === after ? null : 'changed' };
}

function own(scripts: Record<string, string>, name: string): string | null {
  return Object.hasOwn(scripts, name) ? (scripts[name] ?? '') : null;
}
