// French: the panel of areas on the device.
import { counted } from '../counted.js'

const count = counted('fr')

const tiles = count({ one: '# tuile', other: '# tuiles' })
const changed = count({ one: '# tuile modifiée', other: '# tuiles modifiées' })

/** @type {typeof import('./en.js').en} */
export const fr = {
  count: count({ one: '# zone', other: '# zones' }),
  away: 'pas de connexion',
  areas: 'Zones sur cet appareil',
  intro: 'Téléchargez une partie de la carte, et elle reste là sans réseau : en mer, en montagne, à la cave.',
  add: 'Télécharger une zone',
  connected: 'Connecté à l’entrepôt',
  notConnected: 'Pas de connexion à l’entrepôt',
  removed: name => `« ${name} » a été supprimée de cet appareil.`,
  outdated: (name, why) => `« ${name} » n’est pas à jour. ${why}`,
  partly: name => `« ${name} » : tout n’a pas été téléchargé.`,
  justNow: 'à l’instant',
  ago: {
    minutes: count({ one: 'il y a # minute', other: 'il y a # minutes' }),
    hours: count({ one: 'il y a # heure', other: 'il y a # heures' }),
    days: count({ one: 'il y a # jour', other: 'il y a # jours' })
  },
  fewSeconds: 'quelques secondes',
  lasting: {
    seconds: count({ other: '# secondes' }),
    minutes: count({ one: '# minute', other: '# minutes' }),
    hours: count({ one: '# heure', other: '# heures' })
  },
  old: count({ one: 'âgée de # jour', other: 'âgée de # jours' }),
  oldFollowing: count({ one: 'âgée de # jour, suit l’entrepôt quand c’est possible', other: 'âgée de # jours, suit l’entrepôt quand c’est possible' }),
  keptUp: 'Tenue à jour',
  upToDate: ago => `À jour, vérifiée ${ago}`,
  allPast: 'avec tout son passé',
  pastSince: date => `avec son passé depuis ${date}`,
  brought: (number, size) => `${changed(number)}, ${size}.`,
  onlyDescriptions: 'À jour : seules des descriptions ont changé.',
  nothingChanged: 'À jour : rien n’a changé.',
  reasons: {
    insecure: 'Cette page n’a pas été ouverte en https. Des cartes peuvent être conservées ici, mais la page elle-même ne s’ouvre pas sans réseau. Demandez son adresse https.',
    blocked: 'Ce navigateur n’enregistre rien pour cette page : la fenêtre est privée, ou le stockage est désactivé. Ouvrez la page dans une fenêtre ordinaire.',
    failed: 'La partie de cette page qui enregistre les cartes ne s’est pas chargée. Réessayez quand il y a un réseau.'
  },
  problems: {
    full: 'Il n’y a plus de place sur cet appareil. Ce qui est déjà téléchargé est conservé. Supprimez une zone ou libérez de la place, puis « Continuer ».',
    tooLarge: (needed, free) => `Cela ne tient pas : il faut ${needed}, et ${free} sont libres. Supprimez une zone, ou choisissez-en une plus petite.`,
    forbiddenBy: host => `Cette couche ne peut être téléchargée : ses tuiles viennent de ${host}, dont les conditions l’interdisent.`,
    forbidden: 'Cette couche ne peut être téléchargée : son fournisseur ne l’autorise pas.',
    unread: 'L’entrepôt ne vous autorise pas à le lire.',
    other: why => `Cela n’a pas marché : ${why}.`,
    codes: {
      UNREACHABLE: 'L’entrepôt ne répond pas. Ce qui est déjà téléchargé est conservé ; « Continuer » quand il y a un réseau.',
      INDEX_MISSING: 'L’entrepôt n’a pas d’index pour les téléchargements. Son exploitant l’installe avec « tilecouch push ».',
      LAYER_NOT_FOUND: 'La couche n’est plus dans l’entrepôt. Ce qui est sur cet appareil reste.',
      DATABASE_NOT_FOUND: 'La base de données n’existe plus. Ce qui est sur cet appareil reste.',
      AREA_EXISTS: 'Une zone porte déjà ce nom. Choisissez-en un autre.',
      BAD_BBOX: 'Ce ne sont pas quatre nombres en degrés : ouest, sud, est, nord.',
      BAD_AREA: 'Cette forme ne contient rien. Déplacez ses sommets.',
      BAD_ZOOM: 'Le premier zoom ne peut être plus grand que le dernier.',
      BAD_TIME: 'Ce n’est pas une date.'
    }
  },
  area: {
    done: name => `« ${name} » est sur cet appareil.`,
    download: 'Télécharger',
    downloadOf: name => `Téléchargement de ${name}`,
    goOn: 'Continuer',
    pause: 'Pause',
    show: 'Voir sur la carte',
    refresh: 'Actualiser',
    rename: 'Renommer',
    newName: 'Nouveau nom',
    leave: 'Laisser ainsi',
    remove: 'Supprimer',
    removeIt: 'Oui, supprimer',
    keepIt: 'Garder',
    keepUp: 'Tenir à jour',
    askRemove: name => `Supprimer « ${name} » ?`,
    askCancel: name => `Arrêter le téléchargement et supprimer « ${name} » ?`,
    willGo: amount => `${amount} seront supprimés de cet appareil.`,
    nothingYet: 'Rien n’en est encore sur cet appareil.',
    storeKeeps: 'L’entrepôt garde ses tuiles.',
    of: (have, all) => `${have} sur ${all}`,
    left: time => `encore ${time}`,
    failed: number => `${tiles(number)} en échec`,
    states: {
      new: 'Pas encore téléchargée', waiting: 'En attente : une autre fenêtre la télécharge', downloading: 'Téléchargement …',
      refreshing: 'Actualisation …', paused: 'En pause', incomplete: 'Incomplète', removing: 'Suppression …'
    }
  },
  room: {
    head: 'Place sur cet appareil',
    taken: size => `Les cartes prennent ${size}`,
    free: size => `${size} libres`,
    kept: 'Conservé jusqu’à ce que vous le supprimiez.',
    mayGo: 'Le navigateur peut le supprimer si la place manque.',
    keep: 'Conserver',
    refused: 'Le navigateur n’a pas accepté. Il le fait plus volontiers pour une page installée ou en favori.'
  },
  coverage: {
    show: 'Montrer les tuiles présentes sur cet appareil',
    whole: 'sur cet appareil, avec tous les zooms téléchargés en dessous',
    part: 'en partie sur cet appareil'
  },
  estimate: {
    none: 'L’entrepôt n’a pas de tuiles ici à ces zooms.',
    about: time => `environ ${time}`,
    most: size => `C’est la plus grande part des ${size} libres.`,
    free: size => `${size} libres sur cet appareil`
  },
  form: {
    shape: 'Forme', box: 'Rectangle', free: 'Forme libre', undo: 'Retirer le dernier sommet', name: 'Nom', layer: 'Couche', zooms: 'Zooms',
    firstZoom: 'Premier zoom', lastZoom: 'Dernier zoom', past: 'Passé', pastNone: 'Seulement l’état actuel', pastSince: 'Le passé depuis …',
    pastAll: 'Tout le passé', since: 'Depuis', asNumbers: 'Rectangle en nombres', edges: 'Ouest, sud, est, nord',
    dragCorners: 'Tirez les coins sur la carte.',
    tapCorners: 'Touchez la carte aux sommets.',
    corners: number => `${count({ one: '# sommet', other: '# sommets' })(number)}. Touchez pour en ajouter un, tirez pour en déplacer un.`,
    threeCorners: 'Une zone a au moins trois sommets.',
    giveName: 'Donnez-lui un nom.',
    less: label => `${label} : un de moins`,
    more: label => `${label} : un de plus`
  },
  sketch: {
    corners: ['Coin nord-ouest', 'Coin nord-est', 'Coin sud-est', 'Coin sud-ouest'],
    corner: number => `Sommet ${number}`,
    whole: 'Tout le rectangle',
    moves: what => `${what} : les flèches le déplacent`
  }
}
