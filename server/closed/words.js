// The words of the pages for readers who may not open a map, in the languages of the viewer.
import { weightsOf } from '../http/answers.js'

export const languages = {
  en: {
    title: 'This map is private',
    signIn: 'To open it, sign in with a name and password of this store.',
    notMember: 'You are signed in as {name}, who may not read this map. Sign in with another name.',
    name: 'Name',
    password: 'Password',
    button: 'Sign in',
    wrong: 'The name or the password is wrong.',
    locked: 'Too many wrong passwords. Try again in five minutes.',
    failed: 'The server does not answer. Try again.',
    noScript: 'To sign in, this page needs JavaScript.',
    ACCESS_NEEDED: 'To open it, you need a link with a token. Ask the operator of this map for one.',
    TOKEN_EXPIRED: 'The token of your link has expired. Ask the operator of this map for a new link.',
    TOKEN_INVALID: 'The token of your link is not valid: it is incomplete, or it was revoked. ' +
      'Ask the operator of this map for a new link.'
  },
  de: {
    title: 'Diese Karte ist nicht öffentlich',
    signIn: 'Um sie zu öffnen, melden Sie sich mit einem Namen und einem Passwort dieses Speichers an.',
    notMember: 'Sie sind als {name} angemeldet und dürfen diese Karte nicht lesen. ' +
      'Melden Sie sich mit einem anderen Namen an.',
    name: 'Name',
    password: 'Passwort',
    button: 'Anmelden',
    wrong: 'Der Name oder das Passwort ist falsch.',
    locked: 'Zu viele falsche Passwörter. Versuchen Sie es in fünf Minuten noch einmal.',
    failed: 'Der Server antwortet nicht. Versuchen Sie es noch einmal.',
    noScript: 'Für die Anmeldung braucht diese Seite JavaScript.',
    ACCESS_NEEDED: 'Um sie zu öffnen, brauchen Sie einen Link mit einem Token. ' +
      'Fragen Sie den Betreiber dieser Karte danach.',
    TOKEN_EXPIRED: 'Der Token Ihres Links ist abgelaufen. Fragen Sie den Betreiber dieser Karte nach einem neuen Link.',
    TOKEN_INVALID: 'Der Token Ihres Links ist nicht gültig: Er ist unvollständig oder wurde widerrufen. ' +
      'Fragen Sie den Betreiber dieser Karte nach einem neuen Link.'
  },
  fr: {
    title: 'Cette carte est privée',
    signIn: 'Pour l’ouvrir, connectez-vous avec un nom et un mot de passe de cette base.',
    notMember: 'Vous êtes connecté en tant que {name} et n’avez pas le droit de lire cette carte. ' +
      'Connectez-vous avec un autre nom.',
    name: 'Nom',
    password: 'Mot de passe',
    button: 'Se connecter',
    wrong: 'Le nom ou le mot de passe est incorrect.',
    locked: 'Trop de mots de passe incorrects. Réessayez dans cinq minutes.',
    failed: 'Le serveur ne répond pas. Réessayez.',
    noScript: 'Pour la connexion, cette page a besoin de JavaScript.',
    ACCESS_NEEDED: 'Pour l’ouvrir, il vous faut un lien avec un jeton. Demandez-en un à l’exploitant de cette carte.',
    TOKEN_EXPIRED: 'Le jeton de votre lien a expiré. Demandez un nouveau lien à l’exploitant de cette carte.',
    TOKEN_INVALID: 'Le jeton de votre lien n’est pas valide : il est incomplet ou a été révoqué. ' +
      'Demandez un nouveau lien à l’exploitant de cette carte.'
  },
  es: {
    title: 'Este mapa es privado',
    signIn: 'Para abrirlo, inicie sesión con un nombre y una contraseña de este almacén.',
    notMember: 'Ha iniciado sesión como {name}, que no puede leer este mapa. Inicie sesión con otro nombre.',
    name: 'Nombre',
    password: 'Contraseña',
    button: 'Iniciar sesión',
    wrong: 'El nombre o la contraseña no es correcto.',
    locked: 'Demasiadas contraseñas incorrectas. Inténtelo de nuevo dentro de cinco minutos.',
    failed: 'El servidor no responde. Inténtelo de nuevo.',
    noScript: 'Para iniciar sesión, esta página necesita JavaScript.',
    ACCESS_NEEDED: 'Para abrirlo necesita un enlace con un token. Pídalo al operador de este mapa.',
    TOKEN_EXPIRED: 'El token de su enlace ha caducado. Pida un enlace nuevo al operador de este mapa.',
    TOKEN_INVALID: 'El token de su enlace no es válido: está incompleto o fue revocado. ' +
      'Pida un enlace nuevo al operador de este mapa.'
  }
}

/** Finds the best language for a reader. @param {string} [header] Accept-Language @returns {keyof typeof languages} */
export function languageFor (header) {
  const best = Array.from(weightsOf(header), ([tag, weight]) => ({ language: tag.split('-')[0], weight }))
    .filter(({ language, weight }) => Object.hasOwn(languages, language) && weight > 0)
    .sort((a, b) => b.weight - a.weight)[0]
  return /** @type {keyof typeof languages} */ (best?.language ?? 'en')
}
