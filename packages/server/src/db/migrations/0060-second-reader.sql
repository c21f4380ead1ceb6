-- The second reader takes the place of self-review: a project that had switched that off keeps it off.
update projects set settings = (settings - 'selfReview') || jsonb_build_object('secondReader', settings -> 'selfReview')
where settings ? 'selfReview';
