import type { Component } from 'svelte';
import type { Step } from '../../../../../machines/wizard/agent-answers.ts';
import type { Asked } from '../ask.ts';
import Approvals from './approvals-step.svelte';
import Auth from './auth-step.svelte';
import Channels from './channels-step.svelte';
import Egress from './egress-step.svelte';
import Fallback from './fallback-step.svelte';
import Model from './model-step.svelte';
import Name from './name-step.svelte';
import Provider from './provider-step.svelte';
import Review from './review-step.svelte';
import Security from './security-step.svelte';
import Skills from './skills-step.svelte';
import Tools from './tools-step.svelte';

/** The content of each step. */
export const stepParts: Readonly<Record<Step, Component<Asked>>> = {
  name: Name,
  provider: Provider,
  model: Model,
  channels: Channels,
  tools: Tools,
  skills: Skills,
  fallback: Fallback,
  auth: Auth,
  egress: Egress,
  security: Security,
  approvals: Approvals,
  review: Review,
};
