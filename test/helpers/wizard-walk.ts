import type { Page } from 'playwright-core';

/** Is called at each step as it is filled in, and as it complains (`name-wrong`). */
type Look = (step: string) => Promise<void>;

/** Goes through every step of the wizard, which is open at its first one, leaving each wrong first and then right. */
export async function walkWizard(page: Page, look: Look): Promise<void> {
  const box = (name: string) => page.getByRole('textbox', { name });
  const check = (name: string) => page.getByRole('checkbox', { name }).check();
  const choose = (name: string | RegExp) => page.getByRole('radio', { name, exact: true }).check();
  const model = page.getByRole('combobox', { name: 'Model' });
  const press = () => page.getByRole('button', { name: 'Next' }).click();
  const next = async (step: string): Promise<void> => {
    await press();
    await page.locator(`[data-step=${step}] [aria-current=step]`).waitFor();
    await page.getByText('Loading …').waitFor({ state: 'detached' });
  };
  const wrong = async (step: string): Promise<void> => {
    await press();
    await page.locator('form :is([aria-invalid=true], .whole)').first().waitFor();
    await look(`${step}-wrong`);
  };

  await wrong('name');
  await box('Name').fill('Refund desk');
  await look('name');
  await next('provider');
  await choose('OpenAI');
  await look('provider');
  await next('model');
  await wrong('model');
  await model.fill('gpt-5');
  await look('model');
  await next('channels');
  for (const name of ['Slack', 'Telegram', 'Webhook']) await check(name);
  await box('Name of the receiver').fill('Not a name');
  await wrong('channels');
  await box('Name of the receiver').fill('ops');
  await box('Address that is posted to').fill('https://ops.example.com/approvals');
  await look('channels');
  await next('tools');
  await check('web_search');
  await check('cli_execute');
  await wrong('tools');
  await box('Programs').fill('jq, pandoc');
  await look('tools');
  await next('skills');
  await check('email-send');
  await page.getByLabel('SMTP_URL').fill("'both` quotes");
  await wrong('skills');
  await page.getByLabel('SMTP_URL').fill('smtp://mail.example.com');
  await look('skills');
  await next('fallback');
  await page.getByRole('button', { name: 'Add a fallback' }).click();
  await wrong('fallback');
  await model.fill('qwen3');
  await look('fallback');
  await next('auth');
  await choose('OIDC (JWT)');
  await page.getByText('Claims', { exact: true }).click();
  await wrong('auth');
  await box('Issuer').fill('https://id.example.com');
  await box('Audience').fill('refund-desk');
  await look('auth');
  await next('egress');
  await box('Another host').fill('10.0.0.1');
  await wrong('egress');
  await page.getByRole('button', { name: 'Remove 10.0.0.1' }).click();
  await box('Another host').fill('api.example.com');
  await page.keyboard.press('Enter');
  await look('egress');
  await next('security');
  await page.getByRole('button', { name: 'Add a variable' }).click();
  await box('Name').fill('SHOP_KEY');
  await page.getByLabel('Value').fill('a secret of the shop');
  await box('Passphrase').fill('correct horse');
  await box('Confirm passphrase').fill('another');
  await wrong('security');
  await box('Confirm passphrase').fill('correct horse');
  await look('security');
  await next('approvals');
  await check('datetime_now');
  await box('How long').first().fill('soon');
  await wrong('approvals');
  await box('How long').first().fill('20m');
  await look('approvals');
  await next('review');
  await look('review');
}
