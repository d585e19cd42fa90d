import { describe, expect, it } from 'vitest';
import {
  missingRequirements,
  type Requirements,
  type Skill,
} from '../../../../src/actors/tools/skills/skills.ts';

function skillThatNeeds(requires: Requirements): Skill {
  return {
    id: 's',
    name: 's',
    description: '',
    tags: [],
    file: 'SKILL.md',
    body: '',
    tools: [],
    egressDomains: [],
    requires,
  };
}

const skill = skillThatNeeds({
  bins: ['jq', 'curl'],
  env: { required: ['KEY', 'TOKEN'], oneOf: ['A', 'B'], optional: ['C'] },
});

describe('missingRequirements', () => {
  it('names each missing requirement, also an empty variable', () => {
    const find = (name: string) => (name === 'curl' ? '/usr/bin/curl' : null);
    expect(missingRequirements(skill, { TOKEN: 't', KEY: '' }, find)).toEqual([
      'skill s needs the program jq, which is not installed; install it',
      'skill s needs the environment variable KEY; set it',
      'skill s needs one of the environment variables A, B; set one',
    ]);
  });

  it('is empty when one of the alternatives exists and only optional ones are missing', () => {
    const env = { KEY: 'k', TOKEN: 't', B: 'b' };
    expect(missingRequirements(skill, env, (name) => `/bin/${name}`)).toEqual([]);
  });
});
