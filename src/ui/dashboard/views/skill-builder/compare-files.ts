import type { SkillDraftJson } from '../../../../http/wire/dashboard/builder-json.ts';

/** A skill's file before and after a change. */
export interface ComparedFile {
  name: string;
  before: string;
  after: string;
  /** `new` for a file only in the new version, `removed` for one only in the old version. */
  tag: 'new' | 'removed' | 'changed' | null;
}

/** Pairs the files of two versions: the `SKILL.md`, then every script of either by name. */
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
