"""Words that say nothing about a request. Negations, numbers and names are none of them."""

import re

FILLERS = frozenset(
    re.findall(
        r"[\w']+",
        """
        rfp rfq rfi oem refresh pilot turnkey pod eyeing tops detector detectors reproduce genomics spec'd style
        ballpark envision envisage pursuing evaluating evaluate sizings rollout quoting
        bare metal container containers kubernetes docker slurm box boxes startup group
        continue continued continual capped cap mostly mainly kit dl vendor vendors prospect electricity
        a about above actually after again ai aim aiming aims all already also always am amount an and any anybody
        anything application applications appreciate approx approximately are around array as asap ask asked asking
        asks at automotive autonomous available average avg back background based basically be because been before
        being below best better between big bit both btw budget build building busy but buy buying by call called
        camera cameras can capability capacity cards case center centre cheers class classification clinic cluster
        clusters colleague colleagues come comes company complete computing config configuration configure consider
        considering cost could ct current currently customer customer's customers cut data dataset datasets day days
        deadline deal dear deep deliver delivered delivers deploy deployment describe design desired device dicom did
        do does doing done down drive driverless driving each eg either end engineers enough ensure environment epochs
        etc even ever every everything exactly example existing expect expected expects fabric fabrics fast faster fed
        feed few figure file files fill find fine finish finished fit fits flow folks follow following for frame
        frames from full fully fyi get gets getting give given gives go goal going good got gpu gpus greetings guys
        handle handling hardware has have having he hello help hence her here hey hi his hits hold hope hospital host
        hosts hour hours how i i'd i'll i'm i've idea ideal ideally ie if image images imaging imgs important in
        initial initiative inquiry inside institute into is it it's its itself job jobs jpeg jpegs just keep keeping
        keeps kept kind kindly know lab lead learning least less let let's like likes limit limits load look looking
        looks lot machine machines made main mainly make makes many mate max maximum may maybe me mean means medical
        meet meets might mind minimum model models month more morning most move mri much must my name namely need
        needed needs net network networks neural new next nice node nodes now number objective of offer offering
        offers ok okay old on once one ones only onto option options or order our ours out over overall own part
        partner per performance perhaps photo photos picture pictures planned planning plans platform please pls plus
        plz png poc point possible possibly power preferably present pretraining process processed processing
        processor project proposal propose proposed provide provides pull purchase push put quick quickly quotation
        quote rack racks radiology ran range rate raw reach reaches reaching read reading reads ready really
        recognition regards reply request requested requests require required requirement requirements requires
        research respectively result rgds right room rough roughly run running runs said same sample samples say says
        scan scans school science second see seen segmentation send server servers set setup several shall share
        shared shares sharing she should side similar simply since single site size sized sizing so solution solutions
        some someone something soon space speaking spec specs speed spend spending start starting still storage store
        stored stuff such suggest suggestion suggestions support sure sustain sustained system systems ta take takes
        talk target targets task team tell than thank thanks that that's the their them then there there's therefore
        these they they'd they're they've thing things think this those through throughput thus thx tiff time to today
        together total toward towards training try trying tune tuned tuning under university up us use used user uses
        using usual scratch long sft instruct instruction domain adaptation parameter parameters params sec text texts
        language languages house department foundation adapt dense copilot assistant corpus run dedicated
        via video videos vision vs w want wanted wants was way we we'd we'll we're we've week well were
        what what's when where whether which while who whole why will wise wish with within wondering work workflow
        working workload workloads works would write year yes yet you you'd you're your yours
        """,
    )
)
