import { expect, it } from 'vitest';
import { toolsToHold } from '../../../../src/actors/tools/skills/held-names.ts';

const text = (held: string, metadata = 'service') => `---
name: parcels
description: Sends parcels
metadata: {${metadata}: {held: ${held}}}
---

## Tool: send_parcel

## Tool: Find-Parcel

## Tool: stamp
`;
const scripts = { 'send-parcel.py': '', 'Find_Parcel.sh': '', 'stamp.md': '', 'other.sh': '' };

it.each([
  ['[send-parcel]', ['send_parcel']],
  ['[find-parcel, Find_Parcel]', ['Find-Parcel']],
  ['[send_parcel, stamp, nothing]', ['send_parcel']],
  ['[]', []],
  ['yes', []],
])('held: %s names the existing tools, as their sections are named', (held, tools) => {
  expect(toolsToHold({ skill_md: text(held), scripts })).toEqual(tools);
});

it('the block of other products is read as well, and nothing that is not a skill', () => {
  const forge = toolsToHold({ skill_md: text('[send_parcel]', 'forge'), scripts });
  expect(forge).toEqual(['send_parcel']);
  expect(toolsToHold({ skill_md: '---\nname: [', scripts })).toEqual([]);
});
