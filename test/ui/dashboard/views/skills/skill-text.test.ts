import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedLines } from '../../../../../src/ui/dashboard/views/skills/changed-lines.ts';
import {
  hrefOfSkills,
  partsOfSkill,
} from '../../../../../src/ui/dashboard/views/skills/skill-text.ts';

describe('the text of a skill', () => {
  it('is split into frontmatter and Markdown', () => {
    expect(partsOfSkill('---\nname: a\n---\n\n# A\n---\nb\n')).toEqual({
      ...{ frontmatter: 'name: a', body: '# A\n---\nb' },
    });
    expect(partsOfSkill('# A')).toEqual({ frontmatter: '', body: '# A' });
  });

  it('has an address that keeps the category', () => {
    expect(hrefOfSkills('')).toBe('#/skills');
    expect(hrefOfSkills('a&b', 'json-diff')).toBe('#/skills/json-diff?category=a%26b');
  });
});

describe('the lines that a change of a file adds and removes', () => {
  it('are only those', () => {
    expect(changedLines('a\nb: false\nc\n', 'a\nb: true\n  d\nc\ne\n')).toEqual([
      { kind: 'added', text: 'b: true', line: 2 },
      { kind: 'added', text: '  d', line: 3 },
      { kind: 'removed', text: 'b: false', line: 2 },
      { kind: 'added', text: 'e', line: 5 },
    ]);
    expect(changedLines('a\n', 'a\n')).toEqual([]);
  });

  it('turn one text into the other, for any texts', () => {
    const text = fc.array(fc.constantFrom('', 'a', 'b', ' c'), { maxLength: 6 });
    fc.assert(
      fc.property(text, text, (one, other) => {
        const changes = changedLines(one.join('\n'), other.join('\n'));
        const gone = new Set(changes.flatMap(({ kind, line }) => (kind === 'removed' ? line : [])));
        const come = new Set(changes.flatMap(({ kind, line }) => (kind === 'added' ? line : [])));
        const kept = (lines: string[], out: Set<number>) =>
          lines
            .join('\n')
            .split('\n')
            .filter((_, index) => !out.has(index + 1));
        expect(kept(one, gone)).toEqual(kept(other, come));
      }),
    );
  });
});
