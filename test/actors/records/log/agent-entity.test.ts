import { describe, expect, it } from 'vitest';
import { agentEntity } from '../../../../src/actors/records/log/audit.ts';

const till = { entity_id: 'till', entity_type: 'agent' };

describe('agentEntity', () => {
  it.each([
    [{}, {}],
    [{ SERVICE_ORG_ID: ' acme ' }, { org_id: 'acme' }],
    [{ SERVICE_WORKSPACE_ID: 'x'.repeat(256) }, { workspace_id: 'x'.repeat(256) }],
    [
      { SERVICE_ORG_ID: 'a b~', SERVICE_WORKSPACE_ID: 'desk' },
      { org_id: 'a b~', workspace_id: 'desk' },
    ],
    [{ SERVICE_ORG_ID: ' ', SERVICE_WORKSPACE_ID: 'a\nb' }, {}],
  ])('of %j is in %j', (env, tenant) => {
    expect(agentEntity('till', env)).toStrictEqual({ ...till, ...tenant });
  });
});
