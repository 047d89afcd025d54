// What the script says comes from the catalogue (safeside/words), in the page's data: {name} stands for a value.
const LANGUAGE = document.documentElement.lang, plural = new Intl.PluralRules(LANGUAGE);

function say(key, values = {}) {
  const entry = DATA.words[key.includes(".") ? key : `script.${key}`];
  const text = typeof entry === "string" ? entry : entry[plural.select(values.n)] ?? entry.other;
  return text.replace(/\{(\w+)\}/g, (_, name) => (typeof values[name] === "number" ? number(values[name]) : values[name]));
}

const lower = (text) => text.charAt(0).toLocaleLowerCase(LANGUAGE) + text.slice(1); // a sentence within another
const byId = (id) => document.getElementById(id);
