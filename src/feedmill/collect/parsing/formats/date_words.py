"""Month and weekday names in many languages, and words for am and pm."""

# Twelve months per language, separated by empty lines; the forms of one month are joined by slashes. A word that means
# different months in two languages is ignored.
_MONTHS_BY_LANGUAGE = """
january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sept/sep october/oct
november/nov december/dec

januar/jänner/jan februar/feber/feb märz/maerz/mär/mrz april/apr mai juni juli august/aug september/sep oktober/okt
november/nov dezember/dez

janvier/janv février/fevrier/févr/fevr/fév mars avril/avr mai juin juillet/juil août/aout septembre octobre
novembre décembre/decembre/déc

enero/ene febrero marzo abril/abr mayo junio julio agosto/ago septiembre/setiembre/set octubre noviembre
diciembre/dic

janeiro fevereiro/fev março/marco abril maio junho julho agosto setembro outubro/out novembro dezembro

gennaio/gen febbraio marzo aprile maggio/mag giugno/giu luglio/lug agosto settembre/sett ottobre/ott novembre
dicembre

januari februari maart/mrt april mei juni juli augustus september oktober november december

januari februari mars april maj juni juli augusti september oktober november december

januar februar marts/mars april maj/mai juni juli august september oktober november desember/december/des

tammikuuta/tammikuu helmikuuta/helmikuu maaliskuuta/maaliskuu huhtikuuta/huhtikuu toukokuuta/toukokuu
kesäkuuta/kesäkuu heinäkuuta/heinäkuu elokuuta/elokuu syyskuuta/syyskuu lokakuuta/lokakuu marraskuuta/marraskuu
joulukuuta/joulukuu

tammi helmi maalis huhti touko kesä heinä elo syys loka marras joulu

stycznia/styczeń/sty lutego/luty/lut marca/marzec/mar kwietnia/kwiecień/kwi maja czerwca/czerwiec/cze
lipca/lipiec/lip sierpnia/sierpień/sie września/wrzesień/wrz października/październik/paź listopada -
grudnia/grudzień/gru

ledna/leden února/únor března/březen dubna/duben května/květen června/červen července/červenec srpna/srpen září
října/říjen - prosince/prosinec

január február marec/marca apríl/apríla máj/mája jún/júna júl/júla augusta septembra október/októbra novembra
decembra

január/jan február/febr március/márc április/ápr május/máj június/jún július/júl augusztus/aug szeptember/szept
október/okt november/nov december/dec

ianuarie/ian februarie martie aprilie mai iunie/iun iulie/iul august septembrie octombrie noiembrie/noi decembrie

января/январь/янв февраля/февраль/фев/февр марта/март/мар апреля/апрель/апр мая/май июня/июнь/июн июля/июль/июл
августа/август/авг сентября/сентябрь/сен/сент октября/октябрь/окт ноября/ноябрь/ноя/нояб декабря/декабрь/дек

січня/січень/січ лютого/лютий/лют березня/березень/бер квітня/квітень/кві травня/травень/тра червня/червень/чер
липня/липень/лип серпня/серпень/сер вересня/вересень/вер жовтня/жовтень/жов листопада/лис грудня/грудень/гру

ιανουαρίου/ιανουάριος/ιαν φεβρουαρίου/φεβρουάριος/φεβ μαρτίου/μάρτιος/μαρ/μάρ/μάρτ απριλίου/απρίλιος/απρ
μαΐου/μάιος/μαι/μαϊ/μάι ιουνίου/ιούνιος/ιουν/ιούν/ιον ιουλίου/ιούλιος/ιουλ/ιούλ/ιολ αυγούστου/αύγουστος/αυγ/αύγ
σεπτεμβρίου/σεπτέμβριος/σεπ/σεπτ οκτωβρίου/οκτώβριος/οκτ νοεμβρίου/νοέμβριος/νοε/νοέ δεκεμβρίου/δεκέμβριος/δεκ

ocak/oca şubat/şub mart nisan/nis mayıs haziran/haz temmuz/tem ağustos/ağu eylül/eyl ekim/eki kasım/kas aralık/ara

januari/jan februari/peb/pebruari maret april mei juni juli agustus/agu/agt september oktober november/nop/nopember
desember

yanvar fevral mart aprel may iyun iyul avqust sentyabr oktyabr noyabr dekabr

januára februára - - - - - - - - - -

gener febrer març abril maig juny juliol agost setembre octubre novembre desembre

ינואר/בינואר/ינו פברואר/בפברואר/פבר מרץ/במרץ אפריל/באפריל/אפר מאי/במאי יוני/ביוני יולי/ביולי אוגוסט/באוגוסט/אוג
ספטמבר/בספטמבר/ספט אוקטובר/באוקטובר/אוק נובמבר/בנובמבר/נוב דצמבר/בדצמבר/דצמ

يناير فبراير مارس أبريل/ابريل مايو يونيو يوليو أغسطس/اغسطس سبتمبر أكتوبر/اكتوبر نوفمبر ديسمبر

siječnja veljače ožujka travnja svibnja lipnja srpnja kolovoza rujna listopada studenoga prosinca
"""

_WEEKDAYS = """
monday mon tuesday tue tues wednesday wed thursday thu thur thurs friday fri saturday sat sunday sun montag mo
dienstag di mittwoch mi donnerstag do freitag fr samstag sa sonnabend sonntag so lundi lun mardi mar mercredi mer
jeudi jeu vendredi ven samedi sam dimanche dim lunes martes mié mie miércoles miercoles jueves jue viernes vie
sábado sabado sáb sab domingo dom segunda terça terca quarta quinta sexta seg ter qua qui sex segunda-feira
terça-feira quarta-feira quinta-feira sexta-feira feira lunedì lunedi martedì martedi mercoledì mercoledi giovedì
giovedi venerdì venerdi sabato domenica gio maandag ma dinsdag woensdag wo donderdag vrijdag vr zaterdag za zondag
zo måndag mån tisdag tis onsdag ons torsdag tor tors fredag fre lördag lör söndag sön mandag man tirsdag tir lørdag
lør søndag søn ti ke to pe la su maanantai tiistai keskiviikko torstai perjantai lauantai sunnuntai poniedziałek
wtorek środa czwartek piątek sobota niedziela pon wt śr czw pt sob nd niedz pn pondělí úterý středa čtvrtek pátek
neděle po út st čt pá ne понедельник вторник среда четверг пятница суббота воскресенье пн вт ср чт пт сб вс пнд втр
срд чтв птн суб вск δευτέρα τρίτη τετάρτη πέμπτη παρασκευή σάββατο κυριακή δευ τρι τρί τετ πεμ πέμ παρ σαβ σάβ κυρ
pazartesi salı çarşamba perşembe cuma cumartesi pazar pzt sal çar per cum cmt paz senin selasa rabu kamis jumat sabtu
minggu sen sel rab kam jum min hétfő kedd szerda csütörtök péntek szombat vasárnap k sze cs p szo v الأحد الاثنين
الإثنين الثلاثاء الأربعاء الخميس الجمعة السبت
"""

FILLERS = frozenset(
    {
        "de",
        "del",
        "of",
        "at",
        "um",
        "à",
        "a",
        "le",
        "the",
        "uhr",
        "h",
        "год",
        "года",
        "г",
        "ore",
        "kl",
        "on",
        "den",
        "alle",
        "às",
        "as",
        "på",
        "em",
        "el",
        "klo",
        "в",
    }
)

AFTERNOON = frozenset({"pm", "p.m", "p.m.", "下午", "午後", "오후", "傍晚", "晚上"})
NOON = "中午"
# The hours that noon has, by how they are written.
NOON_HOURS = {11: 11, 12: 12, 13: 13, 14: 14, 1: 13, 2: 14}
# Fillers that may end a date; other words after a time could be a time zone.
LAST_WORDS = frozenset({"uhr", "h", "год", "года", "г"})


def _months() -> dict[str, int]:
    found: dict[str, set[int]] = {}
    for language in _MONTHS_BY_LANGUAGE.split("\n\n"):
        for number, forms in enumerate(language.split(), start=1):
            for form in forms.split("/"):
                found.setdefault(form, set()).add(number)
    return {word: numbers.pop() for word, numbers in found.items() if len(numbers) == 1}


MONTHS = _months()
WEEKDAYS = frozenset(_WEEKDAYS.split())
