import { describe, expect, it } from 'vitest';
import { getNextSnapshot, initialTransition, transition } from 'xstate';
import { type WizardEvent, wizardMachine } from '../../../src/machines/wizard/wizard-machine.ts';

function answer(value: string | string[]): WizardEvent {
  return { type: 'question.answer', value };
}

const back: WizardEvent = { type: 'question.back' };

function after(...events: WizardEvent[]) {
  const [first] = initialTransition(wizardMachine);
  return events.reduce((snapshot, event) => getNextSnapshot(wizardMachine, snapshot, event), first);
}

const named = answer('refund-desk');

describe('the wizard', () => {
  it('asks what has to be asked, in order, and ends with the answers', () => {
    const events = [
      named,
      answer('openai-compatible'),
      answer('m'),
      answer('http://localhost:1/v1'),
      answer(['datetime_now', 'http_request']),
      answer(['http_request']),
      { type: 'review.accept' } as const,
    ];
    const states = events.map((_, count) => after(...events.slice(0, count)).value);
    expect(states).toEqual(['name', 'provider', 'model', 'baseUrl', 'tools', 'held', 'reviewing']);
    expect(after(...events)).toMatchObject({
      status: 'done',
      output: {
        name: 'refund-desk',
        provider: 'openai-compatible',
        model: 'm',
        baseUrl: 'http://localhost:1/v1',
        tools: ['datetime_now', 'http_request'],
        held: ['http_request'],
      },
    });
  });

  it('leaves out what an answer makes pointless, there and back', () => {
    expect(after(named, answer('scripted')).value).toBe('tools');
    expect(after(named, answer('scripted'), back).value).toBe('provider');
    expect(after(named, answer('openai'), answer('m')).value).toBe('tools');
    expect(after(named, answer('openai'), answer('m'), back).value).toBe('model');
    expect(after(named, answer('scripted'), answer([])).value).toBe('reviewing');
    expect(after(named, answer('scripted'), answer([]), back).value).toBe('tools');
  });

  it.each<[string, WizardEvent[], string]>([
    ['name', [answer('Refund Desk')], 'the name is at most 64'],
    ['name', [answer('')], 'the name is at most 64'],
    ['provider', [named, answer('vax')], 'vax is no provider'],
    ['model', [named, answer('openai'), answer(' ')], 'name a model of openai'],
    ['tools', [named, answer('scripted'), answer(['cli_execute'])], 'cli_execute is no tool'],
    [
      'held',
      [named, answer('scripted'), answer(['csv_parse']), answer(['file_write'])],
      'file_write is no tool of this agent',
    ],
  ])('stays at %s and says what is wrong', (state, events, complaint) => {
    const snapshot = after(...events);
    expect(snapshot.value).toBe(state);
    expect(snapshot.context.complaint).toContain(complaint);
  });

  it('holds no tool that was taken away again', () => {
    const held = [named, answer('scripted'), answer(['csv_parse']), answer(['csv_parse'])];
    const snapshot = after(...held, back, back, answer(['json_query']));
    expect(snapshot.context.answers.held).toEqual([]);
  });

  it('takes nothing after the end', () => {
    const done = after(named, answer('scripted'), answer([]), { type: 'review.accept' });
    expect(transition(wizardMachine, done, back)[0].value).toBe('accepted');
  });
});
