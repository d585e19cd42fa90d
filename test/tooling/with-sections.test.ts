import { expect, it } from 'vitest';
import { withSections } from '../../bench/with-sections.ts';

it('sections replace those with the same heading, and other text is kept', () => {
  const before = '# All\n\n| a |\n\n## Models\n\nby hand\n\n## Others\n\nold\n';
  const after = withSections(before, [
    '# All\n\n| b |\n',
    '## Others\n\nnew\n',
    '## More\n\nfirst',
  ]);
  expect(after).toBe(
    '# All\n\n| b |\n\n## Models\n\nby hand\n\n## Others\n\nnew\n\n## More\n\nfirst\n',
  );
});
