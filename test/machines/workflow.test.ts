import { describe, expect, it } from 'vitest';
import { isTagValue, tenancyHeaders, workflowHeaders } from '../../src/machines/workflow.ts';

describe('the headers of a workflow and of a tenant', () => {
  it('have the documented names and audit keys', () => {
    expect(Object.fromEntries(workflowHeaders)).toEqual({
      'X-Workflow-ID': 'workflow_id',
      'X-Workflow-Execution-ID': 'workflow_execution_id',
      'X-Workflow-Stage-ID': 'stage_id',
      'X-Workflow-Step-ID': 'step_id',
      'X-Invocation-Caller': 'invocation_caller',
    });
    expect(Object.fromEntries(tenancyHeaders)).toEqual({
      'X-Service-Org-ID': 'org_id',
      'X-Service-Workspace-ID': 'workspace_id',
    });
  });
});

describe('isTagValue', () => {
  it.each([
    ['refunds', true],
    ['~ run 7', true],
    ['a'.repeat(256), true],
    ['a'.repeat(257), false],
    ['', false],
    ['ü', false],
    ['a\nb', false],
    ['a\n', false],
  ])('of %j is %s', (text, expected) => {
    expect(isTagValue(text)).toBe(expected);
  });
});
