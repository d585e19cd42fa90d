/** The face for the command: `slack fake` and `try --slack-demo`. */
export { runFake } from './demo/run-fake.ts';
export { prepareSlackDemo } from './demo/slack-demo.ts';
